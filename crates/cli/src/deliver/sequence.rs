use std::fmt;
use std::str::FromStr;

/// A sequence of a stage, written `beta.delivery`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StageSequence {
    pub(super) stage: String,
    pub(super) sequence: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} does not name a sequence; write its stage, a dot, and its name: beta.delivery")]
pub(super) struct NotASequence(String);

impl FromStr for StageSequence {
    type Err = NotASequence;

    fn from_str(text: &str) -> Result<Self, NotASequence> {
        match text.split_once('.') {
            Some((stage, sequence))
                if !stage.is_empty() && !sequence.is_empty() && !sequence.contains('.') =>
            {
                Ok(Self { stage: stage.to_owned(), sequence: sequence.to_owned() })
            }
            _ => Err(NotASequence(text.to_owned())),
        }
    }
}

impl fmt::Display for StageSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.stage, self.sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_named_with_its_stage() {
        let beta: StageSequence = "beta.delivery".parse().expect("it is one");
        assert_eq!((&*beta.stage, &*beta.sequence), ("beta", "delivery"));
        for bad in ["", "beta", "beta.", ".delivery", "a.b.c", "."] {
            assert!(bad.parse::<StageSequence>().is_err(), "{bad}");
        }
    }
}
