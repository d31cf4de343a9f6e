use std::collections::BTreeMap;

use seaway_kernel::{Actor, Reason, Record};
use seaway_model::Fact;

/// States that are hard to reach, and that a run of many worlds must reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rare {
    StaleAnswerRefused,
    DuplicateAnswerRefused,
    Surpassed,
    IntroducedLate,
    LeaseExpired,
    OwnerFenced,
    ReloadedAfterFailedAppend,
    WaiterSuperseded,
    RevivedAfterFailure,
    OrphanCancelled,
    RestartedAfterComingBack,
    CheckpointUsed,
    CheckpointSetAside,
    UnsyncedAppendLost,
    LateAppendRefused,
    PlaceSuperseded,
    SkippedByPerson,
    Paused,
    Aborted,
}

impl Rare {
    pub const ALL: [Self; 19] = [
        Self::StaleAnswerRefused,
        Self::DuplicateAnswerRefused,
        Self::Surpassed,
        Self::IntroducedLate,
        Self::LeaseExpired,
        Self::OwnerFenced,
        Self::ReloadedAfterFailedAppend,
        Self::WaiterSuperseded,
        Self::RevivedAfterFailure,
        Self::OrphanCancelled,
        Self::RestartedAfterComingBack,
        Self::CheckpointUsed,
        Self::CheckpointSetAside,
        Self::UnsyncedAppendLost,
        Self::LateAppendRefused,
        Self::PlaceSuperseded,
        Self::SkippedByPerson,
        Self::Paused,
        Self::Aborted,
    ];

    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::StaleAnswerRefused => "stale answer refused",
            Self::DuplicateAnswerRefused => "duplicate answer refused",
            Self::Surpassed => "step surpassed",
            Self::IntroducedLate => "step introduced late",
            Self::LeaseExpired => "lease expired",
            Self::OwnerFenced => "owner fenced",
            Self::ReloadedAfterFailedAppend => "reloaded after a failed append",
            Self::WaiterSuperseded => "waiter superseded",
            Self::RevivedAfterFailure => "revived after failure",
            Self::OrphanCancelled => "orphan cancelled",
            Self::RestartedAfterComingBack => "restarted after coming back",
            Self::CheckpointUsed => "checkpoint used",
            Self::CheckpointSetAside => "checkpoint set aside",
            Self::UnsyncedAppendLost => "unsynced append lost",
            Self::LateAppendRefused => "late append refused",
            Self::PlaceSuperseded => "place superseded",
            Self::SkippedByPerson => "skipped by a person",
            Self::Paused => "paused",
            Self::Aborted => "aborted",
        }
    }
}

/// What happened in one world.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub records: usize,
    pub faults: u32,
    pub crashes: u32,
    pub revisions: u64,
    pub stages: usize,
    pub rare: BTreeMap<Rare, u64>,
}

impl Tally {
    pub(super) fn saw(&mut self, rare: Rare) {
        *self.rare.entry(rare).or_default() += 1;
    }

    /// Counts what a durable record says.
    pub(super) fn note(&mut self, record: &Record) {
        self.records += 1;
        let rare = match (record.fact, record.reason()) {
            (Fact::Skipped, Some(Reason::Surpassed)) => Rare::Surpassed,
            (Fact::Skipped, Some(Reason::IntroducedLate)) => Rare::IntroducedLate,
            (Fact::Skipped, Some(Reason::Superseded)) => Rare::PlaceSuperseded,
            (Fact::Skipped, Some(Reason::Person(_))) => Rare::SkippedByPerson,
            (Fact::Superseded, Some(Reason::Replaced)) => Rare::WaiterSuperseded,
            (Fact::Cancelled, Some(Reason::Orphaned)) => Rare::OrphanCancelled,
            (Fact::LeaseExpired, _) => Rare::LeaseExpired,
            (Fact::Retried, _) if record.by == Actor::Seaway => Rare::RestartedAfterComingBack,
            (Fact::Paused, _) => Rare::Paused,
            (Fact::Aborted, _) => Rare::Aborted,
            _ => return,
        };
        self.saw(rare);
    }
}
