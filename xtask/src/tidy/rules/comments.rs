use crate::tidy::rules::table::Found;
use crate::tidy::source::Source;

/// A note about work to be done needs at least this many words to be worth an issue.
const SENTENCE_WORDS: usize = 5;

pub(crate) fn leftovers(source: &Source<'_>) -> Found {
    let mut found = Vec::new();
    for (line, text) in prose(source) {
        for mark in ["FIXME", "XXX"] {
            if after_word(text, mark).is_some() {
                found.push((line, format!("`{mark}` is a leftover; do it or describe an issue")));
            }
        }
        if let Some(rest) = after_word(text, "TODO")
            && rest.split_whitespace().count() < SENTENCE_WORDS
        {
            found.push((line, "`TODO` needs a sentence that says what and why".to_owned()));
        }
    }
    found
}

/// What people read: comments of Rust files, and everything of other files.
fn prose<'a>(source: &'a Source<'a>) -> Vec<(usize, &'a str)> {
    let numbered = |first: usize, text: &'a str| {
        text.lines().enumerate().map(move |(index, line)| (first + index, line))
    };
    if source.is_rust() {
        return source.comments.iter().flat_map(|it| numbered(it.line, it.text)).collect();
    }
    numbered(1, source.text).collect()
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (before, after) = text.split_once(word)?;
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    (!before.ends_with(inside) && !after.starts_with(inside)).then_some(after)
}

pub(crate) fn banners(source: &Source<'_>) -> Found {
    let drawn = |text: &str| {
        let inside = text.trim_start_matches(['/', '!', '*']).trim_start();
        ["----", "====", "****", "####", "////", "~~~~"].iter().any(|it| inside.starts_with(it))
            || text.starts_with("/////")
    };
    let banners = source.comments.iter().filter(|it| drawn(it.text));
    banners.map(|it| (it.line, "banners divide nothing; split the file instead".into())).collect()
}

pub(crate) fn dead_code(source: &Source<'_>) -> Found {
    const OPENINGS: [&str; 12] = [
        "let ",
        "fn ",
        "pub fn ",
        "pub(crate) fn ",
        "struct ",
        "impl ",
        "use ",
        "mod ",
        "match ",
        "#[",
        "return ",
        "}",
    ];
    // Some openings are also English; such a line is code only when it ends like code.
    let code = |text: &str| {
        let Some(inside) = text.strip_prefix("//").filter(|it| it.starts_with(' ')) else {
            return false;
        };
        let inside = inside.trim();
        let ends_like_code = inside.ends_with([';', '{', '}', '(', ')', ']', '=', ',']);
        OPENINGS.iter().any(|it| inside.starts_with(it)) && ends_like_code
    };
    let dead = source.comments.iter().filter(|it| code(it.text));
    dead.map(|it| (it.line, "commented-out code is dead; delete it".into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rules::table::check;

    #[test]
    fn leftovers_are_found() {
        for text in ["// FIXME: later", "// XXX", "// TODO", "/* a\nTODO: fix */"] {
            let line = text.lines().count();
            check(leftovers, "crates/store/src/a.rs", text, &[line]);
        }
        let sentence = "// TODO: answer with 429 when the mailbox of a project is full.";
        check(leftovers, "crates/store/src/a.rs", sentence, &[]);
        check(leftovers, "crates/store/src/a.rs", "let a = \"FIXME\";", &[]);
        check(leftovers, "docs/a.md", "# A\n\nTODO\n", &[3]);
    }

    #[test]
    fn banners_are_found() {
        for text in ["// ---- a ----", "//=====", "//////////", "/* **** */"] {
            check(banners, "crates/store/src/a.rs", text, &[1]);
        }
        check(banners, "crates/store/src/a.rs", "/// a | b\n// - c", &[]);
    }

    #[test]
    fn commented_out_code_is_found() {
        for text in ["// let a = b;", "// fn a() {", "    // }", "// use a::b;"] {
            check(dead_code, "crates/store/src/a.rs", text, &[1]);
        }
        for text in ["// let us hope", "/// let a = b;", "// use the other one.", "let a = b;"] {
            check(dead_code, "crates/store/src/a.rs", text, &[]);
        }
    }
}
