use seaway_model::Digest;
use sha2::{Digest as _, Sha256};

/// What content is known by.
pub(crate) fn content_digest(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// The part of a text that one of its documents takes up, which begins somewhere before `offset`.
pub(super) fn part(text: &str, offset: usize) -> &str {
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if is_mark(line, "---") || is_mark(line, "...") {
            if at > offset {
                return &text[start..at];
            }
            // A document may begin on the line of its mark.
            let begins = line.starts_with('-') && !line[3..].trim().is_empty();
            start = if begins { at + 3 } else { next };
        }
        at = next;
    }
    &text[start..]
}

/// A mark stands alone at the beginning of a line; `---x` is a text.
fn is_mark(line: &str, mark: &str) -> bool {
    line.strip_prefix(mark)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_of_a_text_is_found() {
        let text = "---\na: 1\n---\nb: 2\n...\n---\nc: 3\n--- {d: 4} \n---\r\n---x: 5\ny: 6\n---";
        for (key, expected) in [
            ("a:", "a: 1\n"),
            ("b:", "b: 2\n"),
            ("c:", "c: 3\n"),
            ("d:", " {d: 4} \n"),
            ("y:", "---x: 5\ny: 6\n"),
        ] {
            assert_eq!(part(text, text.find(key).unwrap()), expected);
        }
        assert_eq!(part("a: 1\n", 0), "a: 1\n");
    }
}
