use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is not a known {what}; known are: {known}")]
pub struct UnknownWord {
    pub what: &'static str,
    pub word: String,
    pub known: String,
}

/// A closed set of words, each with a stable number for the store and a text for people.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal, {
        $($(#[$vdoc:meta])* $variant:ident = $code:literal, $text:literal;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant = $code,)* }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The number under which the store keeps it. Numbers are never reused.
            #[must_use]
            pub fn code(self) -> u8 {
                self as u8
            }

            #[must_use]
            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                let plain = text.strip_suffix("-successfully").unwrap_or(text);
                Self::ALL.iter().copied().find(|word| word.as_str() == plain).ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|word| word.as_str()).collect();
                    UnknownWord { what: $what, word: text.to_owned(), known: known.join(", ") }
                })
            }
        }

        impl TryFrom<String> for $name {
            type Error = UnknownWord;

            fn try_from(text: String) -> Result<Self, UnknownWord> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }
    };
}

words! {
    /// What a record is about. The first sixteen are kinds of steps; the others are for facts about
    /// something larger than a step.
    Kind, "kind", {
        PipelineStarted = 1, "pipeline-started";
        StageStarted = 2, "stage-started";
        ArtifactRegistered = 3, "artifact-registered";
        SequenceTriggered = 4, "sequence-triggered";
        SequenceStarted = 5, "sequence-started";
        TaskDone = 6, "task-done";
        GroupStarted = 7, "group-started";
        MemberStarted = 8, "member-started";
        ArtifactReplicated = 9, "artifact-replicated";
        MemberDeployed = 10, "member-deployed";
        MemberTested = 11, "member-tested";
        MemberFinished = 12, "member-finished";
        GroupFinished = 13, "group-finished";
        SequenceFinished = 14, "sequence-finished";
        StageFinished = 15, "stage-finished";
        PipelineFinished = 16, "pipeline-finished";
        Deployment = 17, "deployment";
        Structure = 18, "structure";
        Executor = 19, "executor";
        Event = 20, "event";
        Documents = 21, "documents";
    }
}

words! {
    /// What a record says happened.
    Fact, "fact", {
        Dispatched = 1, "dispatched";
        Claimed = 2, "claimed";
        Started = 3, "started";
        Changed = 4, "changed";
        Finished = 5, "finished";
        Failed = 6, "failed";
        Skipped = 7, "skipped";
        Cancelled = 8, "cancelled";
        Superseded = 9, "superseded";
        RolledBack = 10, "rolled-back";
        Paused = 11, "paused";
        Resumed = 12, "resumed";
        Aborted = 13, "aborted";
        Retried = 14, "retried";
        StructureChanged = 15, "structure-changed";
        ExecutorRegistered = 16, "executor-registered";
        LeaseExpired = 17, "lease-expired";
        ExecutorLeft = 18, "executor-left";
        Received = 19, "received";
    }
}

words! {
    /// How something ended, from best to worst: the worst of several is their maximum.
    Outcome, "outcome", {
        Pass = 1, "pass";
        Warning = 2, "warning";
        Fail = 3, "fail";
    }
}

impl Kind {
    /// Steps without work of their own: one record dispatches and finishes them.
    #[must_use]
    pub fn is_marker(self) -> bool {
        !matches!(
            self,
            Self::ArtifactRegistered
                | Self::TaskDone
                | Self::ArtifactReplicated
                | Self::MemberDeployed
                | Self::MemberTested
        )
    }

    /// How a record of this kind and fact is shown: a failed `stage-finished` reads `stage-failed`.
    #[must_use]
    pub fn shown(self, fact: Fact) -> String {
        match (self.as_str().rsplit_once('-'), fact) {
            (Some((stem, _)), Fact::Failed) => format!("{stem}-failed"),
            _ => self.as_str().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_survives_its_text_and_its_number() {
        for &kind in Kind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(Kind::from_code(kind.code()), Some(kind));
        }
        for &fact in Fact::ALL {
            assert_eq!(fact.as_str().parse(), Ok(fact));
            assert_eq!(Fact::from_code(fact.code()), Some(fact));
        }
        for &outcome in Outcome::ALL {
            assert_eq!(outcome.as_str().parse(), Ok(outcome));
            assert_eq!(Outcome::from_code(outcome.code()), Some(outcome));
        }
    }

    #[test]
    fn the_long_form_of_finished_is_an_alias() {
        assert_eq!("stage-finished-successfully".parse(), Ok(Kind::StageFinished));
        assert_eq!(Kind::StageFinished.shown(Fact::Failed), "stage-failed");
        assert!("stage-ended".parse::<Kind>().is_err());
    }
}
