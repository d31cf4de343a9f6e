use seaway_model::Name;
use seaway_shipyard::reading::{Entry, Key, Node, Notation, Place, Resolved, Scalar, Value};

/// A shipyard that stands inside another document, as a document of its own. What is said about
/// the parts that were not written points to where it stands.
pub(super) fn document(name: &Name, spec: &Node) -> Node {
    let place = Place { offset: spec.place.offset, len: 0 };
    let text = |text: &str| {
        let scalar = Scalar { text: text.to_owned(), notation: Notation::Text };
        Node { value: Value::Scalar(scalar), place }
    };
    let entry = |key: &str, value: Node| Entry { key: Key { text: key.to_owned(), place }, value };
    let metadata = Node { value: Value::Map(vec![entry("name", text(name.as_str()))]), place };
    let entries = vec![
        entry("apiVersion", text("seaway.dev/v1")),
        entry("kind", text("Shipyard")),
        entry("metadata", metadata),
        entry("spec", spec.clone()),
    ];
    Node { value: Value::Map(entries), place }
}

/// A tree as YAML that reads as the same tree.
pub(super) fn yaml(root: &Node) -> String {
    let mut lines = String::from("# From the Project document.\n");
    block(root, 0, &mut lines);
    lines
}

fn block(node: &Node, indent: usize, lines: &mut String) {
    let margin = " ".repeat(indent);
    match &node.value {
        Value::Map(entries) if !entries.is_empty() => {
            for Entry { key, value } in entries {
                let key = Scalar { text: key.text.clone(), notation: Notation::Text };
                lines.push_str(&format!("{margin}{}:", scalar(&key)));
                if fits_a_line(value) {
                    lines.push(' ');
                    block(value, 0, lines);
                    continue;
                }
                lines.push('\n');
                // The dashes of a list stand out enough without another margin.
                let deeper = if matches!(value.value, Value::List(_)) { 0 } else { 2 };
                block(value, indent + deeper, lines);
            }
        }
        Value::List(items) if !items.is_empty() => {
            for item in items {
                let start = lines.len();
                let within = if fits_a_line(item) { 0 } else { indent + 2 };
                block(item, within, lines);
                lines.replace_range(start..start + within, &format!("{margin}- "));
            }
        }
        Value::Map(_) => lines.push_str(&format!("{margin}{{}}\n")),
        Value::List(_) => lines.push_str(&format!("{margin}[]\n")),
        Value::Scalar(it) => lines.push_str(&format!("{margin}{}\n", scalar(it))),
    }
}

fn fits_a_line(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_) => true,
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
    }
}

/// What was written where that has a meaning besides its text; a text in quotes unless it is plain.
fn scalar(scalar: &Scalar) -> String {
    let text = &scalar.text;
    let meaning = Scalar { text: text.clone(), notation: Notation::Plain }.resolve();
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let plain = text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(inner);
    match (scalar.resolve(), meaning) {
        (Resolved::Null, _) => "null".to_owned(),
        (Resolved::Text, Resolved::Text) if plain => text.clone(),
        (Resolved::Text, _) => quoted(text),
        _ => text.clone(),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            ' '..='~' => quoted.push(c),
            _ if c.is_alphanumeric() => quoted.push(c),
            _ => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use seaway_shipyard::reading::{self, Report, Subject};

    use super::*;

    const SPEC: &str = r#"
stages:
- name: beta
  sequences:
  - &one
    name: delivery
    tasks:
    - name: deployment
      properties: &deep
        text: ["1.10", 1.10, 0x1F, "", 'it''s', "a\tb\u2028\u007f \U0001F600 é", yes, ~, "null"]
        "odd key: # x": {"1": [], "true": {}, deep: [[a, [b]], {c: d}]}
        block: |
          two
            lines
      retries: {limit: 2, backoff: 10s}
    - {name: test, timeout: 15m, properties: *deep}
"#;

    fn read(text: &str) -> Node {
        let mut report = Report::new(text);
        let subject = Subject { what: "document", begin: "stages:" };
        let root = reading::read(text, subject, &mut report);
        let problems = report.into_problems();
        assert!(problems.is_empty(), "{problems:?}\n{text}");
        root.unwrap()
    }

    /// What counts of a tree: everything but the places.
    fn shown(node: &Node) -> String {
        match &node.value {
            Value::Scalar(it) => format!("{:?} {:?}", it.resolve(), it.text),
            Value::List(items) => format!("[{}]", items.iter().map(shown).collect::<String>()),
            Value::Map(entries) => {
                let entries = entries.iter();
                entries.map(|it| format!("{:?}: {}, ", it.key.text, shown(&it.value))).collect()
            }
        }
    }

    #[test]
    fn what_is_written_reads_as_the_same_tree() {
        let root = document(&Name::new("shop").unwrap(), &read(SPEC));
        let text = yaml(&root);
        // A value that is nothing has no text worth keeping.
        let expected = shown(&root).replace("Null \"~\"", "Null \"null\"");
        assert_eq!(shown(&read(&text)), expected, "{text}");
        let checked = seaway_shipyard::parse(&text, "shipyard").unwrap();
        assert_eq!(checked.shipyard.name, "shop");
        assert_eq!(checked.shipyard.stages[0].sequences[0].tasks.len(), 2);
    }
}
