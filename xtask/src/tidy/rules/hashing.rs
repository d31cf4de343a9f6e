use crate::tidy::lexer::lex;
use crate::tidy::rules::table::Found;
use crate::tidy::source::Source;

/// The order of the standard hash maps differs from run to run; replay must not.
pub(crate) fn std_maps(source: &Source<'_>) -> Found {
    if !source.is_pure() {
        return Vec::new();
    }
    let path = lex("std::collections::");
    let mut found = Vec::new();
    for (index, window) in source.code.windows(path.len()).enumerate() {
        if !window.iter().zip(&path).all(|(a, b)| a.text == b.text) {
            continue;
        }
        let rest = &source.code[index + path.len()..];
        let several = rest.first().is_some_and(|it| it.text == "{");
        let length = if several { rest.iter().position(|it| it.text == "}") } else { Some(1) };
        let named = &rest[..length.unwrap_or(rest.len()).min(rest.len())];
        let hashed =
            |text: &str| matches!(text, "HashMap" | "HashSet" | "hash_map" | "hash_set" | "*");
        found.extend(named.iter().filter(|it| hashed(it.text)).map(|it| {
            let advice = "use BTreeMap or BTreeSet, or FastMap where no order is taken from it";
            (it.line, advice.to_owned())
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rules::table::check;

    #[test]
    fn hash_maps_of_the_standard_library_are_found_in_pure_crates() {
        let text = "use std::collections::{\n    BTreeMap,\n    HashSet,\n};\n\
                    type A = std::collections::HashMap<u8, u8>;";
        check(std_maps, "crates/wire/src/a.rs", text, &[3, 5]);
        check(std_maps, "crates/engine/src/a.rs", text, &[]);
        let fine = "use std::collections::BTreeMap;\nuse hashbrown::HashMap;";
        check(std_maps, "crates/kernel/src/a.rs", fine, &[]);
    }
}
