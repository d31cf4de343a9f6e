use crate::tidy::lexer::lex;
use crate::tidy::rules::table::Found;
use crate::tidy::source::Source;

/// Code that has no place where `banned_at` says so.
struct Word {
    code: &'static str,
    banned_at: fn(&Source<'_>, usize) -> bool,
    advice: &'static str,
}

const WORDS: &[Word] = &[
    Word { code: "dbg!(", banned_at: anywhere, advice: "`dbg!` is a leftover; remove it" },
    Word { code: "todo!(", banned_at: anywhere, advice: "`todo!` ends the process; write it" },
    Word {
        code: "unimplemented!(",
        banned_at: anywhere,
        advice: "`unimplemented!` ends the process; write it, or make the case impossible",
    },
    Word { code: "#[allow(", banned_at: anywhere, advice: EXPECT },
    Word { code: "#![allow(", banned_at: anywhere, advice: EXPECT },
    Word {
        code: ".unwrap()",
        banned_at: outside_of_tests,
        advice: "use `expect` with the reason why it cannot fail, or handle the failure",
    },
];

const EXPECT: &str = "use `#[expect(.., reason = \"..\")]`, which is found when it is not needed";

fn anywhere(_: &Source<'_>, _: usize) -> bool {
    true
}

/// The simulator and this tool are only run by those who build Seaway, where a panic does no harm.
fn outside_of_tests(source: &Source<'_>, line: usize) -> bool {
    let tool = source.path.starts_with("crates/sim/") || source.path.starts_with("xtask/");
    !tool && !source.in_test(line)
}

pub(crate) fn banned(source: &Source<'_>) -> Found {
    let mut found = Vec::new();
    for word in WORDS {
        let lines = source.find(&lex(word.code)).into_iter();
        let banned = lines.filter(|&line| (word.banned_at)(source, line));
        found.extend(banned.map(|line| (line, word.advice.to_owned())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rules::table::check;

    #[test]
    fn banned_words_are_found_in_code_and_not_in_texts() {
        for code in ["dbg!(x)", "todo!()", "unimplemented!(\"x\")"] {
            check(banned, "crates/store/src/a.rs", &format!("fn a() {{\n    {code}\n}}"), &[2]);
            check(banned, "crates/store/src/a.rs", &format!("// {code}\n/* {code} */"), &[]);
        }
        check(banned, "crates/store/src/a.rs", "const A: &str = \"dbg!(\";", &[]);
        check(banned, "crates/store/src/a.rs", "#[allow(x)]\nfn a() {}", &[1]);
        check(banned, "crates/store/src/a.rs", "#![allow(x)]", &[1]);
        check(banned, "crates/store/src/a.rs", "#[expect(x, reason = \"y\")]", &[]);
    }

    #[test]
    fn unwrap_belongs_into_tests() {
        let text =
            "fn a() {\n    b\n        .unwrap()\n}\n#[cfg(test)]\nmod c {\n    d.unwrap()\n}";
        check(banned, "crates/store/src/a.rs", text, &[3]);
        check(banned, "crates/store/tests/a.rs", text, &[]);
        check(banned, "crates/store/benches/a.rs", text, &[]);
        check(banned, "crates/sim/src/a.rs", text, &[]);
        check(banned, "crates/store/src/a.rs", "a.unwrap_or(1)", &[]);
    }
}
