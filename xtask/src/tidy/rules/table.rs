use crate::tidy::rules::{
    comments, hashing, machine, markdown, names, size, sleeping, texts, words,
};
use crate::tidy::source::Source;

/// Lines that break a rule, each with what to do about it.
pub(crate) type Found = Vec<(usize, String)>;

#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) check: fn(&Source<'_>) -> Found,
}

pub(crate) const RULES: &[Rule] = &[
    Rule { name: "file-length", check: size::file_length },
    Rule { name: "function-length", check: size::function_length },
    Rule { name: "line-width", check: size::line_width },
    Rule { name: "words", check: words::banned },
    Rule { name: "sleep", check: sleeping::in_tests },
    Rule { name: "leftover", check: comments::leftovers },
    Rule { name: "banner", check: comments::banners },
    Rule { name: "dead-code", check: comments::dead_code },
    Rule { name: "type-name", check: names::types },
    Rule { name: "file-name", check: names::files },
    Rule { name: "logic-in-mod", check: names::logic_in_mod },
    Rule { name: "text-state", check: texts::states },
    Rule { name: "hash-order", check: hashing::std_maps },
    Rule { name: "machine", check: machine::traces },
    Rule { name: "one-title", check: markdown::one_title },
];

/// Checks one rule against a text as if it were the file at `path`.
#[cfg(test)]
#[track_caller]
pub(crate) fn check(rule: fn(&Source<'_>) -> Found, path: &str, text: &str, lines: &[usize]) {
    let found: Vec<_> = rule(&Source::new(path, text, false)).iter().map(|it| it.0).collect();
    assert_eq!(found, lines, "in {path}:\n{text}");
}
