use crate::tidy::lexer::Form;
use crate::tidy::rules::table::Found;
use crate::tidy::source::Source;

/// A test that sleeps is slow on a fast machine and fails on a slow one. A method of that name is
/// some virtual clock's.
pub(crate) fn in_tests(source: &Source<'_>) -> Found {
    let mut found = Vec::new();
    for (index, pair) in source.code.windows(2).enumerate() {
        let called = pair[0].form == Form::Word && pair[0].text == "sleep" && pair[1].text == "(";
        let before = index.checked_sub(1).map_or("", |before| source.code[before].text);
        if called && !matches!(before, "." | "fn") && source.in_test(pair[0].line) {
            let advice = "tests do not sleep; use virtual time, or wait for a condition";
            found.push((pair[0].line, advice.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rules::table::check;

    #[test]
    fn sleeping_is_found_in_tests_only() {
        for sleep in ["std::thread::sleep(d)", "tokio::time::sleep(d).await", "sleep(d)"] {
            let text = format!("fn a() {{ {sleep} }}\n#[test]\nfn b() {{\n    {sleep}\n}}");
            check(in_tests, "crates/store/src/a.rs", &text, &[4]);
            check(in_tests, "crates/store/tests/a.rs", &text, &[1, 4]);
        }
        check(in_tests, "crates/store/tests/a.rs", "world.sleep(d)", &[]);
    }
}
