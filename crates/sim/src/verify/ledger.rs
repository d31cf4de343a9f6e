use std::collections::BTreeMap;
use std::sync::Arc;

use seaway_kernel::{Reason, Sequence};
use seaway_model::{Attempt, Kind, Name, Revision, Seq, TargetId};

use super::born::{Born, Yard};

pub(super) type StepKey = (TargetId, Kind);

/// What the records of one deployment say.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) revision: Revision,
    pub(super) started: Seq,
    pub(super) service: Name,
    pub(super) course: Course,
    pub(super) steps: BTreeMap<StepKey, StepLog>,
    pub(super) runs: BTreeMap<TargetId, RunLog>,
    /// What concerns triggered stages only.
    pub(super) yard: Yard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    Running,
    Paused,
    Aborting,
}

/// One run and the definition that it keeps from its start on.
#[derive(Clone, Debug)]
pub(super) struct RunLog {
    pub(super) stage: Name,
    pub(super) sequence: Name,
    pub(super) definition: Option<Arc<Sequence>>,
    /// Where it comes from, in a triggered stage.
    pub(super) born: Option<Born>,
}

#[derive(Clone, Debug)]
pub(super) struct StepLog {
    pub(super) attempt: Attempt,
    pub(super) status: Status,
    /// An attempt was dispatched at some time.
    pub(super) tried: bool,
    /// Number of the newest claim in this attempt.
    pub(super) lease: u32,
    /// How often it failed and was to be tried again by itself.
    pub(super) spent: u32,
}

/// What the records of a step add up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Open,
    Flying,
    /// Failed, and is tried again by itself.
    Backoff,
    Passed,
    Failed,
    Skipped(Reason),
    Superseded,
    Cancelled,
}

impl RunLog {
    /// The structure derives it no longer.
    pub(super) fn is_gone(&self) -> bool {
        self.born.as_ref().is_some_and(|born| born.gone)
    }
}

impl Default for StepLog {
    fn default() -> Self {
        Self { attempt: Attempt(1), status: Status::Open, tried: false, lease: 0, spent: 0 }
    }
}

impl Status {
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Self::Passed | Self::Skipped(_))
    }

    pub(super) fn is_settled(&self) -> bool {
        !matches!(self, Self::Open | Self::Flying | Self::Backoff)
    }

    /// Its place was passed without it.
    pub(super) fn is_left_out(&self) -> bool {
        matches!(self, Self::Open | Self::Skipped(Reason::Surpassed | Reason::IntroducedLate))
    }
}

impl Life {
    pub(super) fn status(&self, key: StepKey) -> &Status {
        self.steps.get(&key).map_or(&Status::Open, |step| &step.status)
    }

    pub(super) fn tried(&self, key: StepKey) -> bool {
        self.steps.get(&key).is_some_and(|step| step.tried)
    }

    /// Whether anything is in flight at targets that `inside` accepts.
    pub(super) fn is_flying(&self, inside: impl Fn(TargetId) -> bool) -> bool {
        self.steps
            .iter()
            .any(|((target, _), step)| step.status == Status::Flying && inside(*target))
    }

    /// The next attempt opens; what earlier ones left no longer counts.
    pub(super) fn reopen(&mut self, key: StepKey) {
        let step = self.steps.entry(key).or_default();
        if step.status.is_settled() || step.status == Status::Backoff {
            step.status = Status::Open;
            step.attempt = step.attempt.next();
            (step.lease, step.spent) = (0, 0);
        }
    }
}
