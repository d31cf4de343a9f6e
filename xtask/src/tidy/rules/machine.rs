use crate::tidy::rules::table::Found;
use crate::tidy::source::Source;

/// Texts that belong to one machine or one network, not to the project.
const TRACES: [(&str, &str); 6] = [
    ("/work/", "an absolute path of one machine; write it relative to the workspace"),
    ("/root/", "an absolute path of one machine; write it relative to the workspace"),
    ("/home/", "an absolute path of one machine; write it relative to the workspace"),
    ("crates.io", "the host of a registry; leave the choice of a mirror to the machine"),
    ("deb.debian.org", "the host of a registry; leave the choice of a mirror to the machine"),
    ("archive.ubuntu.com", "the host of a registry; leave the choice of a mirror to the machine"),
];

pub(crate) fn traces(source: &Source<'_>) -> Found {
    let mut found = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        for (trace, advice) in TRACES {
            if line.match_indices(trace).any(|(at, _)| starts_path(line, at)) {
                found.push((index + 1, format!("`{trace}` is {advice}")));
            }
        }
    }
    found
}

/// A directory of the same name further down a path, as in `a/work/b`, is no absolute path.
fn starts_path(line: &str, at: usize) -> bool {
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '*');
    !line[at..].starts_with('/') || !line[..at].ends_with(continues)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rules::table::check;

    #[test]
    fn traces_of_a_machine_are_found_anywhere_in_a_file() {
        for text in ["// see /work/a", "\"/root/b\"", "/home/c", "https://index.crates.io/x"] {
            check(traces, "crates/store/src/a.rs", text, &[1]);
            check(traces, "docs/a.md", &format!("# A\n{text}"), &[2]);
        }
        check(traces, "deny.toml", "url = \"http://deb.debian.org/debian\"", &[1]);
        check(traces, "crates/store/src/a.rs", "// see docs/work/a and ../root/b", &[]);
    }
}
