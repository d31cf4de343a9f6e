use seaway_kernel::{Detail, Record, Step, Taken};
use seaway_model::{ExecutorName, Fact, Fence};

use super::log::Verifier;
use super::violation::{Rule, Violation};

fn broken(detail: impl Into<String>) -> Result<(), Violation> {
    Err(Violation::new(Rule::Handout, detail))
}

impl Verifier {
    /// Somebody is handed tasks: each under a lease that is in the log, and that nobody else has.
    pub(crate) fn handed(
        &mut self,
        executor: &ExecutorName,
        tasks: &[Taken],
    ) -> Result<(), Violation> {
        for Taken { step, fence, path, .. } in tasks {
            let lease = |record: &&Record| {
                let claimed = record.fact == Fact::Claimed && record.fence() == *fence;
                claimed && record.step() == Some(*step)
            };
            let lease = self.durable.iter().rev().map(|(record, _)| record).find(lease);
            let holder = match lease.and_then(|record| record.detail.as_deref()) {
                Some(Detail::Lease { executor, .. }) => Some(executor),
                _ => None,
            };
            if holder != Some(executor) {
                return broken(format!(
                    "{executor} is handed {path} under the lease of {holder:?}"
                ));
            }
            let task = self.paths.share(step.target).map(|(task, _)| self.paths.text(task));
            if task.as_ref() != Some(path) {
                return broken(format!("{path} is said to be where {task:?} is"));
            }
            self.handed_out(*step, *fence)?;
        }
        Ok(())
    }

    /// A lease is made known to its holder.
    pub(crate) fn handed_out(&mut self, step: Step, fence: Fence) -> Result<(), Violation> {
        match self.handed_out.insert((step, fence)) {
            true => Ok(()),
            false => {
                let path = self.paths.text(step.target);
                broken(format!("{path} is handed out twice under {fence:?}"))
            }
        }
    }
}
