use seaway_model::Outcome;
use seaway_model::planted::{Bug, planted};
use serde::{Deserialize, Serialize};

use crate::Reason;

/// How far one step is, in one byte: a plan may have millions of steps.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Cell(u8);

/// What the records of a step add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Status {
    /// No record counts (none yet, or a retry opened the next attempt).
    Idle = 0,
    InFlight = 1,
    Passed = 2,
    Warned = 3,
    Failed = 4,
    Surpassed = 5,
    IntroducedLate = 6,
    /// Skipped because a newer revision is at its place.
    Outdated = 7,
    Condition = 8,
    SkippedByPerson = 9,
    /// The run, stage or deployment that this step ends was superseded as a whole.
    Superseded = 10,
    Cancelled = 11,
    /// Failed, and will be tried again by itself.
    Backoff = 12,
}

const STATUS: u8 = 0x0f;
/// The member's permit is held; kept on the first step of its chain.
const HOLDS: u8 = 0x20;
/// An attempt was dispatched at some time.
const TRIED: u8 = 0x40;
/// Something after the step has finished. Derived from the structure, never stored.
const OVERTAKEN: u8 = 0x80;

impl Cell {
    pub(crate) fn status(self) -> Status {
        match self.0 & STATUS {
            0 => Status::Idle,
            1 => Status::InFlight,
            2 => Status::Passed,
            3 => Status::Warned,
            4 => Status::Failed,
            5 => Status::Surpassed,
            6 => Status::IntroducedLate,
            7 => Status::Outdated,
            8 => Status::Condition,
            9 => Status::SkippedByPerson,
            10 => Status::Superseded,
            12 => Status::Backoff,
            _ => Status::Cancelled,
        }
    }

    pub(crate) fn set(&mut self, status: Status) {
        self.0 = self.0 & !STATUS | status as u8;
        if matches!(status, Status::InFlight | Status::Passed | Status::Warned | Status::Failed)
            || status == Status::Backoff
        {
            self.0 |= TRIED;
        }
    }

    /// Finished with pass or warning, or skipped.
    pub(crate) fn is_complete(self) -> bool {
        matches!(self.0 & STATUS, 2 | 3 | 5..=9)
    }

    pub(crate) fn is_finished(self) -> bool {
        matches!(self.0 & STATUS, 2 | 3)
    }

    /// For a join: it has finished or failed, so that whoever joins now comes too late.
    pub(crate) fn is_over(self) -> bool {
        self.is_finished() || self.has_failed()
    }

    pub(crate) fn is_idle(self) -> bool {
        self.0 & STATUS == 0
    }

    pub(crate) fn in_flight(self) -> bool {
        self.0 & STATUS == 1
    }

    pub(crate) fn has_failed(self) -> bool {
        self.0 & STATUS == 4
    }

    /// Failed, and will be tried again by itself.
    pub(crate) fn backs_off(self) -> bool {
        self.0 & STATUS == 12
    }

    /// Ended for good, well or badly: what joins wait for.
    pub(crate) fn is_settled(self) -> bool {
        self.is_complete() || matches!(self.0 & STATUS, 4 | 10 | 11)
    }

    pub(crate) fn tried(self) -> bool {
        self.0 & TRIED != 0
    }

    pub(crate) fn overtaken(self) -> bool {
        self.0 & OVERTAKEN != 0
    }

    pub(crate) fn set_overtaken(&mut self, overtaken: bool) {
        self.0 = if overtaken { self.0 | OVERTAKEN } else { self.0 & !OVERTAKEN };
    }

    pub(crate) fn holds(self) -> bool {
        self.0 & HOLDS != 0
    }

    pub(crate) fn set_holds(&mut self, holds: bool) {
        self.0 = if holds { self.0 | HOLDS } else { self.0 & !HOLDS };
    }

    /// Never dispatched, and something after it has finished: the walk goes on through it.
    pub(crate) fn is_passed_over(self) -> bool {
        self.0 & (STATUS | TRIED | OVERTAKEN) == OVERTAKEN
            || (planted(Bug::FailedPassedOver) && self.overtaken() && self.has_failed())
    }

    /// Could be done but for something after it that has finished; only a person can end this.
    pub(crate) fn is_stale(self) -> bool {
        self.0 & (STATUS | TRIED | OVERTAKEN) == TRIED | OVERTAKEN
    }

    pub(crate) fn lets_through(self) -> bool {
        self.is_complete() || self.is_passed_over()
    }

    /// The step's place was passed without it, so that it would come too late elsewhere.
    pub(crate) fn was_left_out(self) -> bool {
        match self.status() {
            Status::Idle => !self.tried(),
            Status::Surpassed | Status::IntroducedLate => true,
            _ => false,
        }
    }

    /// The next attempt opens; what earlier ones left no longer counts.
    pub(crate) fn reopen(&mut self) {
        self.0 &= !(STATUS | HOLDS);
    }

    /// As if it had never been dispatched: its member left and may come back.
    pub(crate) fn forget(&mut self) {
        self.0 = 0;
    }

    /// Without what is derived from the structure.
    pub(crate) fn stored(self) -> Self {
        Self(self.0 & !OVERTAKEN)
    }

    pub(crate) fn from_byte(byte: u8) -> Self {
        Self(byte).stored()
    }

    pub(crate) fn byte(self) -> u8 {
        self.stored().0
    }
}

impl Status {
    pub(crate) fn ended(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Self::Passed,
            Outcome::Warning => Self::Warned,
            Outcome::Fail => Self::Failed,
        }
    }

    pub(crate) fn skipped(reason: &Reason) -> Self {
        match reason {
            Reason::Surpassed => Self::Surpassed,
            Reason::IntroducedLate => Self::IntroducedLate,
            Reason::Superseded | Reason::Replaced => Self::Outdated,
            Reason::Condition => Self::Condition,
            Reason::Orphaned
            | Reason::Aborted
            | Reason::Withdrawn
            | Reason::TimedOut
            | Reason::RunTimedOut
            | Reason::NoExecutor
            | Reason::TooManyRuns
            | Reason::TooMuchData => Self::Cancelled,
            Reason::Person(_) => Self::SkippedByPerson,
        }
    }
}

impl std::fmt::Debug for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.status())?;
        let flags =
            [(self.tried(), "tried"), (self.overtaken(), "overtaken"), (self.holds(), "holds")];
        flags.iter().filter(|(set, _)| *set).try_for_each(|(_, flag)| write!(f, "+{flag}"))
    }
}
