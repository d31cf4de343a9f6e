use seaway_kernel::{Kernel, Record};
use seaway_model::{DeploymentId, Digest, Name, TargetDef};

use crate::verify::{Rule, Violation};

/// A second fold of the log that never had a live state: what replay must come to.
#[derive(Debug)]
pub(super) struct Shadow {
    kernel: Kernel,
    records: Vec<Record>,
}

impl Shadow {
    pub(super) fn new(project: &Name) -> Self {
        Self { kernel: Kernel::new(project), records: Vec::new() }
    }

    pub(super) fn define(&mut self, def: &TargetDef) -> Result<(), Violation> {
        let broken = |error| Violation::new(Rule::Replay, format!("{error}"));
        self.kernel.define_target(def).map_err(broken)
    }

    pub(super) fn apply(&mut self, record: &Record) -> Result<(), Violation> {
        let broken = |error| Violation::new(Rule::Replay, format!("replay stops: {error}"));
        if let Some(absent) = self.kernel.absent(record) {
            let past = self.records_of(absent);
            self.kernel.revive(&past).map_err(broken)?;
        }
        self.kernel.apply(record).map_err(broken)?;
        self.records.push(record.clone());
        Ok(())
    }

    pub(super) fn sweep(&mut self) {
        self.kernel.sweep();
    }

    pub(super) fn digest(&self) -> Digest {
        self.kernel.digest()
    }

    fn records_of(&self, deployment: DeploymentId) -> Vec<Record> {
        let mine = |record: &&Record| record.deployment == Some(deployment);
        self.records.iter().filter(mine).cloned().collect()
    }
}
