use seaway_model::{ExecutorName, Span};

use crate::{Kernel, Subscription};

/// An executor that is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredExecutor<'a> {
    pub name: &'a ExecutorName,
    pub subscriptions: &'a [Subscription],
    /// How long it may be silent.
    pub ttl: Span,
    /// Tasks that it holds, or that wait for it.
    pub tasks: usize,
}

impl Kernel {
    /// The executors whose names come after one, in order of their names.
    pub fn executors(
        &self,
        after: Option<&ExecutorName>,
    ) -> impl Iterator<Item = RegisteredExecutor<'_>> {
        use std::ops::Bound::{Excluded, Unbounded};
        let first = after.map_or(Unbounded, Excluded);
        let known = self.executors.all().range::<ExecutorName, _>((first, Unbounded));
        known.map(|(name, executor)| RegisteredExecutor {
            name,
            subscriptions: &executor.subscriptions,
            ttl: executor.ttl,
            tasks: self.shares.get(name).map_or(0, |tasks| tasks.len()),
        })
    }
}
