use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{ExecutorName, Name, Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::record::Subscription;

/// Who performs tasks, and when each was last heard of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Executors {
    known: BTreeMap<ExecutorName, Executor>,
    /// Derived: who subscribed to a task.
    by_task: BTreeMap<Name, BTreeSet<ExecutorName>>,
    /// Neither records nor state: until when each counts as there.
    until: BTreeMap<ExecutorName, Timestamp>,
    by_time: BTreeSet<(Timestamp, ExecutorName)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Executor {
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) ttl: Span,
}

impl Executors {
    pub(crate) fn get(&self, name: &ExecutorName) -> Option<&Executor> {
        self.known.get(name)
    }

    pub(crate) fn all(&self) -> &BTreeMap<ExecutorName, Executor> {
        &self.known
    }

    pub(crate) fn register(&mut self, name: &ExecutorName, executor: Executor, now: Timestamp) {
        self.leave(name);
        for subscription in &executor.subscriptions {
            self.by_task.entry(subscription.task.clone()).or_default().insert(name.clone());
        }
        let ttl = executor.ttl;
        self.known.insert(name.clone(), executor);
        self.heard(name, now + ttl);
    }

    pub(crate) fn leave(&mut self, name: &ExecutorName) {
        if let Some(gone) = self.known.remove(name) {
            for subscription in &gone.subscriptions {
                if let Some(names) = self.by_task.get_mut(&subscription.task) {
                    names.remove(name);
                    if names.is_empty() {
                        self.by_task.remove(&subscription.task);
                    }
                }
            }
        }
        if let Some(until) = self.until.remove(name) {
            self.by_time.remove(&(until, name.clone()));
        }
    }

    fn heard(&mut self, name: &ExecutorName, until: Timestamp) {
        if let Some(before) = self.until.insert(name.clone(), until) {
            self.by_time.remove(&(before, name.clone()));
        }
        self.by_time.insert((until, name.clone()));
    }

    /// An executor says that it is there. Tells whether it is known.
    pub(crate) fn renew(&mut self, name: &ExecutorName, now: Timestamp) -> bool {
        let Some(ttl) = self.known.get(name).map(|executor| executor.ttl) else { return false };
        self.heard(name, now + ttl);
        true
    }

    pub(crate) fn renew_all(&mut self, now: Timestamp) {
        let names: Vec<ExecutorName> = self.known.keys().cloned().collect();
        names.iter().for_each(|name| {
            self.renew(name, now);
        });
    }

    /// Who is silent first, and until when it counts as there.
    pub(crate) fn first_silent(&self) -> Option<(Timestamp, &ExecutorName)> {
        self.by_time.first().map(|(until, name)| (*until, name))
    }

    pub(crate) fn subscribers(&self, task: &Name) -> impl Iterator<Item = &ExecutorName> {
        self.by_task.get(task).into_iter().flatten()
    }
}
