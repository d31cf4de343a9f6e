use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Identity of a deployment: the context UUID. Callers hand in time-ordered ids (version 7) so
/// that indexes over them stay cheap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeploymentId(pub Uuid);

impl fmt::Display for DeploymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for DeploymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

macro_rules! counter {
    ($(#[$doc:meta])* $name:ident($int:ty), $letter:literal) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $name(pub $int);

        impl $name {
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    };
}

counter!(
    /// Position in the log of one project. The first record has position 1; 0 means "none yet".
    Seq(u64), "s");
counter!(
    /// Number of a registered (service, version), in order of registration, per project.
    Revision(u64), "r");
counter!(
    /// Counts the tries of one step. The first try is 1.
    Attempt(u32), "a");
counter!(
    /// Counts the owners of a project. An append by an older owner is refused.
    Epoch(u64), "e");
counter!(
    /// A target path, interned per project in order of first use. 0 is the project itself.
    TargetId(u32), "t");

/// What a holder of a task must show with its answer: the attempt, and the number of its claim.
/// Number 0 belongs to a task that was never claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fence {
    pub attempt: Attempt,
    pub lease: u32,
}

/// Who performs tasks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExecutorName(pub Box<str>);

impl fmt::Display for ExecutorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
