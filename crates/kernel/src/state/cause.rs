use std::collections::BTreeSet;
use std::sync::Arc;

use seaway_model::{Name, Outcome};
use serde::{Deserialize, Serialize};

use super::spot::RunKey;
use crate::structure::Trigger;

/// Something that happened and may start sequences. It is kept as long as a run that it started
/// could still be withdrawn, or a join may ask for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cause {
    pub(crate) event: Happened,
    pub(crate) outcome: Outcome,
    /// The task that ran last, of a run that ended.
    pub(crate) last_task: Option<Name>,
    /// What the runs that it starts are given.
    pub(crate) data: Arc<str>,
    /// Its triggers are those of the newest structure; a change of the structure closes it, unless
    /// a run of it is withdrawn.
    pub(crate) open: bool,
    /// The entries that it fired: stage, sequence, entry.
    pub(crate) fired: BTreeSet<(u32, u32, Trigger)>,
    pub(crate) runs: Vec<RunKey>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Happened {
    Finished(RunKey),
    Received { name: Box<str>, stage: Option<Name> },
}

/// Where a run of a triggered stage comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// A command named the sequence.
    Command,
    Cause {
        at: seaway_model::Seq,
        on: Trigger,
    },
}
