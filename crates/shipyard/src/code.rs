use std::fmt;

use serde::{Serialize, Serializer};

/// The stable words for what can be wrong with a file.
macro_rules! codes {
    ($($variant:ident = $text:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($variant,)* }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

codes! {
    TooLarge = "too-large",
    Syntax = "yaml-syntax",
    Tag = "yaml-tag",
    DuplicateKey = "duplicate-key",
    SeveralDocuments = "several-documents",
    TooManyProblems = "too-many-problems",
    OldFormat = "old-format",
    Version = "version",
    DocumentKind = "kind",
    UnknownKey = "unknown-key",
    OldKey = "old-key",
    MissingKey = "missing-key",
    WrongType = "wrong-type",
    WrongValue = "wrong-value",
    OutOfRange = "out-of-range",
    InvalidName = "invalid-name",
    DuplicateName = "duplicate-name",
    Empty = "empty",
    Duration = "duration",
    EventName = "event-name",
    NotATrigger = "not-a-trigger",
    UnknownSequence = "unknown-sequence",
    UnknownStage = "unknown-stage",
    UnknownTask = "unknown-task",
    DuplicateTrigger = "duplicate-trigger",
    TriggerLoop = "trigger-loop",
    Selector = "selector",
    TaskOrder = "task-order",
    Unsupported = "unsupported",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
