/// A piece of Rust text, with its line counted from 1. Enough is told apart for rules to look at
/// code without being fooled by comments and texts; it is not a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) line: usize,
    pub(crate) form: Form,
    pub(crate) text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An identifier, keyword, number or lifetime.
    Word,
    /// One character of punctuation.
    Mark,
    /// The inside of a string or character literal.
    Literal,
    /// A comment with the characters that open it.
    Comment,
}

pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { text, at: 0, line: 1, tokens: Vec::new() };
    while let Some(c) = lexer.rest().chars().next() {
        lexer.step(c);
    }
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn step(&mut self, c: char) {
        let rest = self.rest();
        if c.is_whitespace() {
            self.skip(c.len_utf8());
        } else if rest.starts_with("//") {
            self.take(Form::Comment, 0, rest.find('\n').unwrap_or(rest.len()), 0);
        } else if rest.starts_with("/*") {
            self.take(Form::Comment, 0, block_comment(rest), 0);
        } else if let Some((open, inside, close)) = string(rest) {
            self.take(Form::Literal, open, inside, close);
        } else if c == '\'' {
            self.quote(rest);
        } else if is_word(c) {
            self.take(Form::Word, 0, word(rest), 0);
        } else {
            self.take(Form::Mark, 0, c.len_utf8(), 0);
        }
    }

    /// A quote begins a character or a lifetime; only a character has a second quote right after.
    fn quote(&mut self, rest: &str) {
        let inside = &rest[1..];
        let first = inside.chars().next().map_or(0, char::len_utf8);
        if inside.starts_with('\\') {
            let close = inside[2..].find('\'').map_or(inside.len(), |end| end + 2);
            self.take(Form::Literal, 1, close, 1);
        } else if inside[first..].starts_with('\'') {
            self.take(Form::Literal, 1, first, 1);
        } else {
            self.take(Form::Word, 0, 1 + word(inside), 0);
        }
    }

    /// Takes a token of `inside` bytes between `open` and `close` bytes that do not belong to it.
    fn take(&mut self, form: Form, open: usize, inside: usize, close: usize) {
        let text = &self.rest()[open..open + inside];
        self.tokens.push(Token { line: self.line, form, text });
        self.skip(open + inside + close);
    }

    fn skip(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        self.line += self.text[self.at..end].matches('\n').count();
        self.at = end;
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Lengths of the opening, the inside and the closing of a string literal that begins here.
fn string(text: &str) -> Option<(usize, usize, usize)> {
    let plain = text.strip_prefix(['b', 'c']).unwrap_or(text);
    let prefix = text.len() - plain.len();
    if let Some(inside) = plain.strip_prefix('"') {
        let mut escaped = false;
        let end = inside.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        return Some((prefix + 1, end.unwrap_or(inside.len()), 1));
    }
    let hashes = plain.strip_prefix('r')?;
    let inside = hashes.trim_start_matches('#');
    let count = hashes.len() - inside.len();
    let inside = inside.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(count));
    let end = inside.find(&close).unwrap_or(inside.len());
    Some((prefix + 1 + count + 1, end, close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, Form, &str)]) {
        let found: Vec<_> = lex(text).iter().map(|it| (it.line, it.form, it.text)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn comments_and_texts_are_told_from_code() {
        check(
            "a // b \"c\"\n\"d // \\\" e\" r#\"f\"g\"# /* h /* i */ */ j",
            &[
                (1, Form::Word, "a"),
                (1, Form::Comment, "// b \"c\""),
                (2, Form::Literal, "d // \\\" e"),
                (2, Form::Literal, "f\"g"),
                (2, Form::Comment, "/* h /* i */ */"),
                (2, Form::Word, "j"),
            ],
        );
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        check(
            "'a' &'b '\\'' '{'",
            &[
                (1, Form::Literal, "a"),
                (1, Form::Mark, "&"),
                (1, Form::Word, "'b"),
                (1, Form::Literal, "\\'"),
                (1, Form::Literal, "{"),
            ],
        );
    }

    #[test]
    fn literals_count_their_lines() {
        check("\"x\ny\"\nz", &[(1, Form::Literal, "x\ny"), (3, Form::Word, "z")]);
    }
}
