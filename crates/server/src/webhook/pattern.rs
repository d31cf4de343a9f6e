use std::fmt;

use seaway_shipyard::limits;

/// What Keptn puts before the name of an event to make its type.
const PREFIX: &str = "sh.keptn.event.";

/// Names of events, where a `*` stands for any characters, also for none and for dots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pattern(String);

impl Pattern {
    /// Nothing for a text that could not match any event.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let name = text.strip_prefix(PREFIX).unwrap_or(text);
        let inner = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'*');
        let valid = name.len() <= limits::EVENT_CHARS
            && name.split('.').all(|part| !part.is_empty() && part.bytes().all(inner));
        valid.then(|| Self(name.to_owned()))
    }

    /// Goes back to the last star only, so that no pattern takes long.
    pub(crate) fn matches(&self, event: &str) -> bool {
        let (pattern, event) = (self.0.as_bytes(), event.as_bytes());
        let (mut p, mut e) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while e < event.len() {
            match (pattern.get(p), star) {
                (Some(b'*'), _) => {
                    star = Some((p, e));
                    p += 1;
                }
                (Some(c), _) if *c == event[e] => (p, e) = (p + 1, e + 1),
                (_, Some((at, taken))) => {
                    star = Some((at, taken + 1));
                    (p, e) = (at + 1, taken + 1);
                }
                (_, None) => return false,
            }
        }
        pattern[p..].iter().all(|c| *c == b'*')
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, matching, others) in [
            ("beta.delivery.finished", &["beta.delivery.finished"][..], &["", "beta.delivery"][..]),
            ("*.finished", &["test.finished", "a.b.finished"], &["finished", "test.finished.x"]),
            ("test.*", &["test.started", "test.status.changed"], &["test", "atest.started"]),
            ("*", &["", "anything.at.all"], &[]),
            ("**", &["", "a"], &[]),
            ("*.*.started", &["a.b.started", "a.b.c.started"], &["a.started"]),
            ("a*b*c", &["abc", "axbxbxc", "abbc"], &["ab", "acb", "abcd"]),
            ("pre*post", &["prepost", "pre.x.post"], &["prepos", "repost"]),
            ("sh.keptn.event.test.*", &["test.finished"], &["sh.keptn.event.test.finished"]),
        ] {
            let pattern = Pattern::new(pattern).unwrap();
            let fits = |event: &&&str| pattern.matches(event);
            assert_eq!(matching.iter().filter(fits).count(), matching.len(), "{pattern}");
            assert_eq!(others.iter().filter(fits).count(), 0, "{pattern}");
        }
    }

    #[test]
    fn what_can_match_nothing_is_no_pattern() {
        let long = "a".repeat(limits::EVENT_CHARS + 1);
        for wrong in ["", ".", "a..b", ".finished", "a.", "a b", "a/b", "[ab]", "?", "ä", &long] {
            assert_eq!(Pattern::new(wrong), None, "{wrong}");
        }
    }

    /// Each star of this one could be tried at each place.
    #[test]
    fn a_pattern_of_many_stars_is_done_at_once() {
        let pattern = Pattern::new(&"*a".repeat(limits::EVENT_CHARS / 2)).unwrap();
        assert!(!pattern.matches(&format!("{}b", "a".repeat(limits::EVENT_CHARS))));
    }
}
