use crate::tidy::rules::table::Found;
use crate::tidy::source::Source;

/// Fields that hold one of a few values, which a text cannot say.
pub(crate) fn states(source: &Source<'_>) -> Found {
    const NAMES: [&str; 4] = ["state", "status", "kind", "phase"];
    if !source.is_pure() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, token) in source.code.iter().enumerate() {
        let rest = &source.code[index + 1..];
        if !NAMES.contains(&token.text) || rest.first().is_none_or(|it| it.text != ":") {
            continue;
        }
        let kind = rest[1..].iter().take_while(|it| !matches!(it.text, "," | "}" | ")" | ";"));
        let words: String = kind.map(|it| it.text).collect();
        let inside = words.strip_prefix("Option<").map_or(&*words, |it| it.trim_end_matches('>'));
        if inside == "String" || inside.starts_with("Box<str") || inside.starts_with("Arc<str") {
            found.push((token.line, format!("make `{}` an enum that holds its state", token.text)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rules::table::check;

    #[test]
    fn states_kept_as_text_are_found_in_pure_crates() {
        for field in ["state: String", "pub kind: Box<str>", "phase: Option<String>"] {
            let text = format!("struct A {{\n    {field},\n}}");
            check(states, "crates/kernel/src/a.rs", &text, &[2]);
            check(states, "crates/store/src/a.rs", &text, &[]);
        }
        check(states, "crates/kernel/src/a.rs", "struct A { kind: Kind, name: String }", &[]);
        check(states, "crates/kernel/src/a.rs", "A { kind: String::from(x) }", &[]);
    }
}
