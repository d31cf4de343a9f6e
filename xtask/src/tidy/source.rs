use std::ops::Range;

use crate::tidy::lexer::{Form, Token, lex};

/// One file as rules see it.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// From the root of the workspace, with `/` between the parts.
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    /// Tokens without comments; empty unless it is a Rust file.
    pub(crate) code: Vec<Token<'a>>,
    pub(crate) comments: Vec<Token<'a>>,
    /// Lines of items that exist only in tests.
    test_lines: Vec<Range<usize>>,
    test_file: bool,
}

impl<'a> Source<'a> {
    /// `test_file` says that the file is only reached through a module that exists only in tests.
    pub(crate) fn new(path: &'a str, text: &'a str, test_file: bool) -> Self {
        let tokens = if path.ends_with(".rs") { lex(text) } else { Vec::new() };
        let (comments, code) = tokens.into_iter().partition(|it| it.form == Form::Comment);
        let test_file = test_file || has_dir(path, "tests") || has_dir(path, "benches");
        let mut source = Self { path, text, code, comments, test_lines: Vec::new(), test_file };
        source.test_lines = test_lines(&source.code);
        source
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn file_name(&self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// Whether the file belongs to a crate that sees no clock, randomness, files or network.
    pub(crate) fn is_pure(&self) -> bool {
        ["model", "shipyard", "kernel", "scenario", "wire"].iter().any(|name| {
            let rest = self.path.strip_prefix("crates/").and_then(|rest| rest.strip_prefix(name));
            rest.is_some_and(|rest| rest.starts_with('/'))
        })
    }

    pub(crate) fn in_test(&self, line: usize) -> bool {
        self.test_file || self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// Lines at which the code contains these tokens in a row.
    pub(crate) fn find(&self, tokens: &[Token<'_>]) -> Vec<usize> {
        self.code
            .windows(tokens.len())
            .filter(|window| window.iter().zip(tokens).all(|(a, b)| same(a, b)))
            .map(|window| window[0].line)
            .collect()
    }
}

fn has_dir(path: &str, dir: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(parents, _)| parents.split('/').any(|it| it == dir))
}

fn same(a: &Token<'_>, b: &Token<'_>) -> bool {
    a.form == b.form && a.text == b.text
}

/// Position after the `}` that closes the first `{` at or after `from`, or after a `;` that comes
/// outside of brackets before any `{`. The end of the code when neither comes.
pub(crate) fn item_end(code: &[Token<'_>], from: usize) -> usize {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (index, token) in code.iter().enumerate().skip(from) {
        if token.form != Form::Mark {
            continue;
        }
        match token.text {
            "{" => braces += 1,
            "}" => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return index + 1;
                }
            }
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            ";" if braces == 0 && brackets == 0 => return index + 1,
            _ => {}
        }
    }
    code.len()
}

fn test_lines(code: &[Token<'_>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (index, token) in code.iter().enumerate() {
        if token.text == "#" && is_test_attribute(&code[index + 1..]) {
            let last = code[item_end(code, index) - 1];
            found.push(token.line..last.line + 1);
        }
    }
    found
}

/// Whether what follows a `#` is `[test]`, `[cfg(test)]` or `[cfg(all(test, ..))]`, with any path
/// before the `test` of a function, as in `[tokio::test]`.
fn is_test_attribute(code: &[Token<'_>]) -> bool {
    let inside = code.iter().skip(1).take_while(|it| it.text != "]");
    let text: String = inside.map(|it| it.text).collect();
    code.first().is_some_and(|it| it.text == "[")
        && (text == "test"
            || text == "cfg(test)"
            || text.starts_with("cfg(all(test,")
            || text.split('(').next().is_some_and(|path| path.ends_with("::test")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_tests_are_known() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n\
                    #[tokio::test]\nasync fn d() {\n}\n#[cfg(test)]\nuse x;\nfn e() {}\n";
        let source = Source::new("crates/kernel/src/a.rs", text, false);
        let in_test: Vec<_> = (1..=12).filter(|&line| source.in_test(line)).collect();
        assert_eq!(in_test, [2, 3, 4, 5, 7, 8, 9, 10, 11]);
        assert!(source.is_pure());
        assert!(!Source::new("crates/store/src/a.rs", "", false).is_pure());
        assert!(Source::new("crates/store/tests/a.rs", "", false).in_test(1));
    }
}
