use std::fmt::{self, Write};

use seaway_shipyard::reading::{Notation, Resolved, Scalar};
use serde_json::Value;

/// A value as YAML. Texts that could be taken for something else are quoted, in the way of JSON.
#[derive(Debug)]
pub(crate) struct Yaml<'a>(pub(crate) &'a Value);

impl fmt::Display for Yaml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        match self.0 {
            value if is_short(value) => short(&mut text, value)?,
            value => block(&mut text, value, 0)?,
        }
        f.write_str(text.trim_end_matches('\n'))
    }
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => true,
    }
}

fn short(text: &mut String, value: &Value) -> fmt::Result {
    match value {
        Value::String(word) if is_plain(word) => text.write_str(word),
        other => write!(text, "{other}"),
    }
}

/// The lines of a list or a mapping. The first one is begun by whoever calls.
fn block(text: &mut String, value: &Value, indent: usize) -> fmt::Result {
    let mut first = true;
    let mut begin = |text: &mut String| {
        let spaces = if std::mem::take(&mut first) { 0 } else { indent };
        write!(text, "{:spaces$}", "")
    };
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| {
            begin(text)?;
            text.write_str("- ")?;
            item_of(text, item, indent + 2)
        }),
        Value::Object(entries) => entries.iter().try_for_each(|(key, value)| {
            begin(text)?;
            short(text, &Value::String(key.clone()))?;
            text.write_str(":")?;
            if is_short(value) {
                text.write_str(" ")?;
                short(text, value)?;
                return text.write_str("\n");
            }
            write!(text, "\n{:1$}", "", indent + 2)?;
            block(text, value, indent + 2)
        }),
        _ => short(text, value),
    }
}

fn item_of(text: &mut String, item: &Value, indent: usize) -> fmt::Result {
    if is_short(item) {
        short(text, item)?;
        return text.write_str("\n");
    }
    block(text, item, indent)
}

/// Whether a text means itself without quotes, wherever it stands.
fn is_plain(word: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || "-_./ :#@+=".contains(c);
    let edges = |c: char| c.is_ascii_alphanumeric();
    let looks_plain = word.starts_with(edges) && word.ends_with(edges) && word.chars().all(inside);
    let scalar = Scalar { text: word.to_owned(), notation: Notation::Plain };
    // Older readers know more words for truth than ours, and take some numbers for times.
    let old = ["y", "n", "yes", "no", "on", "off"];
    let digits = word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| !c.is_ascii_alphabetic() || matches!(c, 'e' | 'E' | 'T' | 'Z'));
    // These begin something only beside a space.
    let marks = [": ", " #"].iter().any(|mark| word.contains(mark));
    looks_plain
        && !marks
        && !digits
        && !old.contains(&&*word.to_lowercase())
        && matches!(scalar.resolve(), Resolved::Text)
}

#[cfg(test)]
mod tests {
    use seaway_shipyard::reading::{Report, Subject, read};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn survives(value: &Value) {
        let text = Yaml(value).to_string();
        let mut report = Report::new(&text);
        let root = read(&text, Subject { what: "value", begin: "a:" }, &mut report);
        let back = root.expect(&text).json().expect("it has no odd numbers");
        assert_eq!(&back, value, "{text}");
    }

    #[test]
    fn what_is_written_is_read_back() {
        survives(&json!({
            "a": [1, -2.5, true, null, "x", "", [], {}, [[1], [2, [3]]], [{"b": 1, "c": {"d": 2}}]],
            "no": "no", "1": "1", "1.20": "1.20", "true": "true", "~": "~", "a: b": "c #d",
            "-": "- x", "é": "a\nb\t\"c\" \\ \u{1b}", "time": "2026-01-01T00:00:00Z",
            "path": "shop/beta/delivery#1/test", "plain": "no executor for task", "e": "1e3",
            "nested": {"deep": {"deeper": [{"x": {"y": []}}]}}
        }));
        survives(&json!(["a"]));
    }

    #[test]
    fn it_reads_well() {
        let value = json!({"items": [{"name": "cart", "tags": ["a", "b"]}], "next": null});
        let expected = "items:\n  - name: cart\n    tags:\n      - a\n      - b\nnext: null";
        assert_eq!(Yaml(&value).to_string(), expected);
    }
}
