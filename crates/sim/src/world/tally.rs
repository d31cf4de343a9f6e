use std::collections::BTreeMap;

use seaway_kernel::{Actor, Detail, Event, On, Reason, Record, Trigger};
use seaway_model::{Fact, Kind, Outcome};

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
    JoinFired,
    RunWithdrawn,
    TimedOut,
    RunTimedOut,
    NobodyCame,
    TriedAgain,
    RollbackRan,
    RunTriggered,
    EventFired,
    TriggerRefused,
    ExecutorSilent,
    EditedRetry,
    HelperCame,
    GivenBack,
    TakerWaited,
    PatienceOver,
    TakerRefused,
    ToldAgain,
    AnswerKept,
    LookedUpTooEarly,
    Approved,
    Rejected,
    AnsweredTwice,
    Applied,
    UnknownService,
}

impl Rare {
    pub const ALL: [Self; 44] = [
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
        Self::JoinFired,
        Self::RunWithdrawn,
        Self::TimedOut,
        Self::RunTimedOut,
        Self::NobodyCame,
        Self::TriedAgain,
        Self::RollbackRan,
        Self::RunTriggered,
        Self::EventFired,
        Self::TriggerRefused,
        Self::ExecutorSilent,
        Self::EditedRetry,
        Self::HelperCame,
        Self::GivenBack,
        Self::TakerWaited,
        Self::PatienceOver,
        Self::TakerRefused,
        Self::ToldAgain,
        Self::AnswerKept,
        Self::LookedUpTooEarly,
        Self::Approved,
        Self::Rejected,
        Self::AnsweredTwice,
        Self::Applied,
        Self::UnknownService,
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
            Self::JoinFired => "join fired",
            Self::RunWithdrawn => "run withdrawn",
            Self::TimedOut => "task timed out",
            Self::RunTimedOut => "run timed out",
            Self::NobodyCame => "nobody could do a task",
            Self::TriedAgain => "failed task tried again by itself",
            Self::RollbackRan => "failure triggered a run",
            Self::RunTriggered => "run triggered a run",
            Self::EventFired => "event from outside fired",
            Self::TriggerRefused => "trigger refused at the limit",
            Self::ExecutorSilent => "silent executor gone",
            Self::EditedRetry => "retried with edited data",
            Self::HelperCame => "helper came",
            Self::GivenBack => "given back for a caller that left",
            Self::TakerWaited => "work came to who waited for it",
            Self::PatienceOver => "patience over",
            Self::TakerRefused => "too many wait for work",
            Self::ToldAgain => "same answer for the same key",
            Self::AnswerKept => "answer kept by the store",
            Self::LookedUpTooEarly => "look-up stale",
            Self::Approved => "approved by a person",
            Self::Rejected => "rejected by a person",
            Self::AnsweredTwice => "approval answered too late",
            Self::Applied => "documents applied",
            Self::UnknownService => "service refused",
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
        if record.kind == Kind::Documents {
            return self.saw(Rare::Applied);
        }
        let rare = match (record.fact, record.reason()) {
            (Fact::Skipped, Some(Reason::Surpassed)) => Rare::Surpassed,
            (Fact::Skipped, Some(Reason::IntroducedLate)) => Rare::IntroducedLate,
            (Fact::Skipped, Some(Reason::Superseded)) => Rare::PlaceSuperseded,
            (Fact::Skipped, Some(Reason::Person(_))) => Rare::SkippedByPerson,
            (Fact::Superseded, Some(Reason::Replaced)) => Rare::WaiterSuperseded,
            (Fact::Cancelled, Some(Reason::Orphaned)) => Rare::OrphanCancelled,
            (Fact::LeaseExpired, _) => Rare::LeaseExpired,
            (Fact::Retried, _) if record.by == Actor::Seaway => match record.kind {
                Kind::TaskDone => Rare::TriedAgain,
                _ => Rare::RestartedAfterComingBack,
            },
            (Fact::Retried, _) if record.detail.is_some() => Rare::EditedRetry,
            (Fact::Cancelled, Some(Reason::Withdrawn)) => Rare::RunWithdrawn,
            (Fact::Failed, Some(Reason::TimedOut)) => Rare::TimedOut,
            (Fact::Failed, Some(Reason::RunTimedOut)) => Rare::RunTimedOut,
            (Fact::Failed, Some(Reason::NoExecutor)) => Rare::NobodyCame,
            (Fact::Skipped, Some(Reason::TooManyRuns)) => Rare::TriggerRefused,
            (Fact::ExecutorLeft, _) if record.by == Actor::Seaway => Rare::ExecutorSilent,
            (Fact::Finished, _) => match record.detail.as_deref() {
                Some(Detail::Triggered { on: Some(on), .. }) => fired(on),
                _ => return,
            },
            (Fact::Paused, _) => Rare::Paused,
            (Fact::Aborted, _) => Rare::Aborted,
            _ => return,
        };
        self.saw(rare);
    }
}

/// Which kind of entry fired.
fn fired(trigger: &Trigger) -> Rare {
    let fails = trigger.selector.results.iter().any(|(_, outcome)| *outcome == Outcome::Fail);
    match &trigger.on {
        On::All(_) => Rare::JoinFired,
        On::Event(Event::Finished { .. }) if fails => Rare::RollbackRan,
        On::Event(Event::Finished { .. }) => Rare::RunTriggered,
        On::Event(Event::Domain(_)) => Rare::EventFired,
    }
}
