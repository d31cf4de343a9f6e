use std::time::Duration;

use crate::definition::Definitions;

/// How a worker works.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    pub projects: Projects,
    /// The name of the executor. Workers with the same name share their tasks.
    pub name: String,
    /// How many tasks are carried out at the same time, in all projects together.
    pub concurrency: usize,
    /// How long a task stays with a worker that is not heard of.
    pub lease: Duration,
    /// How long tasks may go on after the worker was asked to stop.
    pub drain: Duration,
    pub definitions: Definitions,
    /// Others with the same name go on: the executor is not signed off when this one stops.
    pub replica: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projects {
    /// All that the token may see, also those that come later.
    All,
    Named(Vec<String>),
}

impl WorkerOptions {
    pub const NAME: &str = "worker";
    pub const CONCURRENCY: usize = 4;
    pub const LEASE: Duration = Duration::from_secs(30);
    pub const DRAIN: Duration = Duration::from_secs(60);

    /// The usual for all projects.
    #[must_use]
    pub fn new(definitions: Definitions) -> Self {
        Self {
            projects: Projects::All,
            name: Self::NAME.to_owned(),
            concurrency: Self::CONCURRENCY,
            lease: Self::LEASE,
            drain: Self::DRAIN,
            definitions,
            replica: false,
        }
    }

    /// In whole seconds, within what the server takes.
    pub(super) fn lease_seconds(&self) -> u32 {
        u32::try_from(self.lease.as_secs()).unwrap_or(u32::MAX).clamp(1, 86_400)
    }
}
