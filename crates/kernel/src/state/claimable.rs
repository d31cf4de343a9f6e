use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use seaway_model::{ExecutorName, Revision, Seq};

use crate::record::Step;

/// Derived: the shares of tasks that executors may take now, oldest revision first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claimable {
    by_executor: BTreeMap<ExecutorName, BTreeSet<Share>>,
    /// Executors that something was added for since somebody asked.
    woken: BTreeSet<ExecutorName>,
}

/// The rank of its deployment, and the task.
pub(crate) type Share = (Revision, Seq, Step);

impl Claimable {
    pub(crate) fn put(&mut self, executor: &ExecutorName, share: Share) {
        if let Some(shares) = self.by_executor.get_mut(executor) {
            if shares.insert(share) {
                self.wake(executor);
            }
            return;
        }
        self.by_executor.insert(executor.clone(), BTreeSet::from([share]));
        self.wake(executor);
    }

    fn wake(&mut self, executor: &ExecutorName) {
        if !self.woken.contains(executor) {
            self.woken.insert(executor.clone());
        }
    }

    pub(crate) fn take_away(&mut self, executor: &ExecutorName, share: Share) {
        if let Some(shares) = self.by_executor.get_mut(executor) {
            shares.remove(&share);
            if shares.is_empty() {
                self.by_executor.remove(executor);
                self.woken.remove(executor);
            }
        }
    }

    /// The first share of an executor behind another one, or the first of all.
    pub(crate) fn next(&self, executor: &ExecutorName, after: Option<Share>) -> Option<Share> {
        let shares = self.by_executor.get(executor)?;
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        shares.range((from, Bound::Unbounded)).next().copied()
    }

    pub(crate) fn woken(&mut self) -> BTreeSet<ExecutorName> {
        std::mem::take(&mut self.woken)
    }
}
