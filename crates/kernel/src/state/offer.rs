use std::sync::Arc;

use seaway_model::planted::{Bug, planted};
use seaway_model::{ExecutorName, Outcome, TargetId, Timestamp};
use serde::{Deserialize, Serialize};

/// A task in flight that goes to every executor whose subscription matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    pub(crate) parts: Vec<Part>,
    pub(crate) since: Timestamp,
    /// Since when nobody could take it.
    pub(crate) alone: Option<Timestamp>,
    /// When it was first taken.
    pub(crate) taken: Option<Timestamp>,
    /// What the executors added, in the order of their answers.
    pub(crate) answers: Vec<Arc<str>>,
}

/// One executor's share of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) executor: ExecutorName,
    pub(crate) target: TargetId,
    pub(crate) end: Option<Outcome>,
}

impl Offer {
    pub(crate) fn part(&self, executor: &ExecutorName) -> Option<&Part> {
        self.parts.iter().find(|part| part.executor == *executor)
    }

    /// How it ends, once all who took it or were waited for have answered.
    pub(crate) fn end(&self) -> Option<Outcome> {
        let ends: Option<Vec<Outcome>> = match planted(Bug::FirstAnswerEnds) {
            false => self.parts.iter().map(|part| part.end).collect(),
            true => Some(self.parts.iter().filter_map(|part| part.end).collect()),
        };
        ends?.into_iter().max()
    }
}
