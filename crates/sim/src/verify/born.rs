use std::collections::{BTreeMap, BTreeSet};

use seaway_kernel::{Event, Trigger};
use seaway_model::{Attempt, ExecutorName, Name, Outcome, Seq, TargetId};
use serde_json::Value;

/// An entry of a sequence: stage, sequence, and what it says.
pub(super) type Entry = (Name, Name, Trigger);

/// Where a run of a triggered stage comes from.
#[derive(Clone, Debug)]
pub(super) struct Born {
    /// The record and the entry that it comes from; none for a command.
    pub(super) from: Option<(Seq, Trigger)>,
    /// From where on what is introduced is too young for it.
    pub(super) since: Seq,
    /// The run in whose name it works: its own, or one whose failure led to it in the same stage.
    pub(super) root: TargetId,
    /// Something outside started it, or a run here that something outside started.
    pub(super) exempt: bool,
    /// The structure derives it no longer, and it had not begun.
    pub(super) gone: bool,
}

/// Something that happened and may start sequences.
#[derive(Clone, Debug)]
pub(super) struct Happening {
    pub(super) events: Vec<Event>,
    /// Where it happened, if somebody said so.
    pub(super) at: Option<Name>,
    /// The run that ended.
    pub(super) run: Option<TargetId>,
    pub(super) outcome: Outcome,
    pub(super) last_task: Option<Name>,
    /// None as long as no record said it.
    pub(super) data: Option<Value>,
}

/// What the records of one deployment say about its triggers and the shares of its tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Yard {
    pub(super) happened: BTreeMap<Seq, Happening>,
    pub(super) fired: BTreeSet<(Seq, Entry)>,
    /// When each join last fired.
    pub(super) joined: BTreeMap<Entry, Seq>,
    /// What has to fire before anything else changes.
    pub(super) due: BTreeSet<(Seq, Entry)>,
    /// Tasks in flight.
    pub(super) offers: BTreeMap<TargetId, Offer>,
    /// The newest lease of each share, in which attempt.
    pub(super) leases: BTreeMap<TargetId, (Attempt, u32)>,
    /// Runs that work, or are about to with what the run before them kept.
    pub(super) inside: BTreeSet<TargetId>,
}

/// A task in flight, with everybody who is waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct Offer {
    pub(super) parts: BTreeMap<ExecutorName, Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Offered, or offered again.
    Open,
    Held,
    Ended(Outcome),
}
