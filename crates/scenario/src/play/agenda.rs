use std::collections::BTreeMap;

use seaway_kernel::Step;
use seaway_model::Timestamp;

use crate::document::Answer;

/// What somebody does when its time comes.
#[derive(Clone, Debug)]
pub(super) enum Turn {
    /// A step of the scenario.
    Script { step: usize },
    /// An executor takes a task that it is offered.
    Take { executor: usize, step: Step, answer: Answer },
    /// An executor comes to the end of what it took.
    End { work: usize },
}

/// Turns in order of time, and at the same time in the order in which they were planned.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    turns: BTreeMap<(Timestamp, u64), Turn>,
    planned: u64,
}

impl Agenda {
    pub(super) fn plan(&mut self, at: Timestamp, turn: Turn) {
        self.planned += 1;
        self.turns.insert((at, self.planned), turn);
    }

    pub(super) fn next_time(&self) -> Option<Timestamp> {
        self.turns.keys().next().map(|(at, _)| *at)
    }

    /// The next turn that is due.
    pub(super) fn pop(&mut self, now: Timestamp) -> Option<Turn> {
        let first = self.turns.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove())
    }
}
