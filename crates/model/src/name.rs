use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A name that people gave: of a project, stage, sequence, task, group, member or service.
///
/// At most 63 characters, letters and digits with `-`, `_` or `.` between them. The characters that
/// separate the parts of a target path (`/`, `#`, `:`, `@`) can therefore never occur in one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Box<str>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a valid name; use up to 63 letters and digits, with '-', '_' or '.' between them"
)]
pub struct NameError(pub String);

impl Name {
    pub const MAX_LEN: usize = 63;

    pub fn new(text: &str) -> Result<Self, NameError> {
        let edge = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let inner = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
        let bytes = text.as_bytes();
        let valid = bytes.len() <= Self::MAX_LEN
            && edge(bytes.first().copied())
            && edge(bytes.last().copied())
            && bytes.iter().all(|&c| inner(c));
        if valid { Ok(Self(text.into())) } else { Err(NameError(text.to_owned())) }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.into_string()
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_contain_what_separates_the_parts_of_a_path() {
        for good in ["a", "ant-gateway", "v1.2", "host_7", "A9"] {
            assert!(Name::new(good).is_ok(), "{good}");
        }
        let long = "x".repeat(64);
        for bad in ["", "-a", "a-", ".", "a/b", "a#1", "a:2", "@x", "a b", "é", "a\n", &long] {
            assert!(Name::new(bad).is_err(), "{bad}");
        }
    }
}
