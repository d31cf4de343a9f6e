//! The nouns of Seaway: typed ids, names, target paths, kinds, facts and outcomes.
//!
//! Pure: nothing here reads a clock, draws a random number or touches a file.

mod digest;
mod ids;
mod kind;
mod name;
pub mod planted;
mod target;
mod time;

pub use digest::Digest;
pub use ids::{Attempt, DeploymentId, Epoch, ExecutorName, Fence, Revision, Seq, TargetId};
pub use kind::{Fact, Kind, Outcome, UnknownWord};
pub use name::{Name, NameError};
pub use target::{Level, Target, TargetDef, TargetError, TargetTable};
pub use time::{Span, Timestamp};

/// A map with a fixed hasher. It is for look-up only: no order may be taken from it.
pub type FastMap<K, V> = hashbrown::HashMap<K, V, rustc_hash::FxBuildHasher>;
