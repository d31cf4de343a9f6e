use seaway_model::{Revision, Span};

use crate::document::{Ship, Verdict};
use crate::tell::Line;

/// Everything that came of a scenario.
#[derive(Clone, Debug)]
pub struct Played {
    pub lines: Vec<Line>,
    /// In the order of the scenario.
    pub ended: Vec<Ended>,
    pub waits: Vec<Waits>,
    pub held: Vec<Held>,
    /// From the start to the end of the play.
    pub took: Span,
    pub stopped: Stopped,
}

/// How a deployment stands at the end.
#[derive(Clone, Debug)]
pub struct Ended {
    pub ship: Ship,
    pub revision: Option<Revision>,
    pub verdict: Verdict,
    /// When it ended.
    pub at: Option<Span>,
}

/// Something that does not move at the end.
#[derive(Clone, Debug)]
pub struct Waits {
    pub ship: String,
    pub place: String,
    pub why: String,
    pub ended_by: String,
}

/// Whether something that was expected came true.
#[derive(Clone, Debug)]
pub struct Held {
    pub text: String,
    pub holds: bool,
    /// What was found instead.
    pub but: String,
}

/// Why a play ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing moves any more without somebody outside.
    AtRest,
    /// The time of the scenario was over.
    OutOfTime,
    /// It wrote more records than a play may.
    TooLong,
}

impl Stopped {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AtRest => "at-rest",
            Self::OutOfTime => "out-of-time",
            Self::TooLong => "too-long",
        }
    }
}

impl Played {
    /// Everything came as expected. A play that was cut off says nothing about that.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.stopped != Stopped::TooLong && self.held.iter().all(|it| it.holds)
    }
}
