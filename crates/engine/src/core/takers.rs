use std::collections::{BTreeMap, VecDeque};

use seaway_kernel::{Actor, Command};
use seaway_model::{ExecutorName, Span, Timestamp};

use super::Ticket;

/// Executors that asked for work when there was none, in the order in which they asked.
#[derive(Debug, Default)]
pub(super) struct Takers {
    lines: BTreeMap<ExecutorName, VecDeque<Taker>>,
    deadlines: BTreeMap<(Timestamp, Ticket), ExecutorName>,
}

#[derive(Clone, Debug)]
pub(super) struct Taker {
    pub(super) ticket: Ticket,
    pub(super) max: usize,
    pub(super) ttl: Span,
    pub(super) by: Actor,
    pub(super) until: Timestamp,
}

impl Taker {
    pub(super) fn command(&self, executor: &ExecutorName) -> Command {
        Command::Take { executor: executor.clone(), max: self.max, ttl: self.ttl }
    }
}

impl Takers {
    pub(super) fn len(&self) -> usize {
        self.deadlines.len()
    }

    pub(super) fn park(&mut self, executor: &ExecutorName, taker: Taker) {
        self.deadlines.insert((taker.until, taker.ticket), executor.clone());
        self.lines.entry(executor.clone()).or_default().push_back(taker);
    }

    /// Whoever asked first for an executor.
    pub(super) fn first(&self, executor: &ExecutorName) -> Option<&Taker> {
        self.lines.get(executor)?.front()
    }

    /// Whoever asked first has its answer.
    pub(super) fn pop(&mut self, executor: &ExecutorName) {
        let Some(line) = self.lines.get_mut(executor) else { return };
        if let Some(taker) = line.pop_front() {
            self.deadlines.remove(&(taker.until, taker.ticket));
        }
        if line.is_empty() {
            self.lines.remove(executor);
        }
    }

    /// One whose patience is over.
    pub(super) fn expired(&mut self, now: Timestamp) -> Option<(Ticket, ExecutorName)> {
        let first = self.deadlines.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((_, ticket), executor) = first.remove_entry();
        if let Some(line) = self.lines.get_mut(&executor) {
            line.retain(|taker| taker.ticket != ticket);
            if line.is_empty() {
                self.lines.remove(&executor);
            }
        }
        Some((ticket, executor))
    }

    pub(super) fn first_deadline(&self) -> Option<Timestamp> {
        self.deadlines.first_key_value().map(|((until, _), _)| *until)
    }

    /// Everybody, when nothing more is handed out.
    pub(super) fn dismiss(&mut self) -> Vec<Ticket> {
        self.lines.clear();
        std::mem::take(&mut self.deadlines).into_keys().map(|(_, ticket)| ticket).collect()
    }
}
