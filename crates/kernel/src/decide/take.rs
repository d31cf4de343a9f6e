use seaway_model::{ExecutorName, Span};

use super::trigger::check_ttl;
use crate::command::Taken;
use crate::fold::Location;
use crate::schedule::Pen;
use crate::{Kernel, Refusal, Reply, Step};

impl Kernel {
    /// An executor takes what waits for it, oldest revision first. It may get nothing.
    pub(super) fn take(
        &mut self,
        executor: &ExecutorName,
        max: usize,
        ttl: Span,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        check_ttl(ttl)?;
        if !self.executors.renew(executor, pen.now) {
            return Err(Refusal::UnknownExecutor(executor.clone()));
        }
        let (mut tasks, mut bytes, mut last) = (Vec::new(), 0, None);
        while tasks.len() < max.min(Refusal::MAX_TAKEN)
            && bytes < Refusal::MAX_TAKEN_BYTES
            && let Some(next) = self.claimable.next(executor, last)
        {
            last = Some(next);
            let (_, _, step) = next;
            // A deployment that is being aborted gives nothing out, and is passed over.
            if let Ok(Reply::Claimed { step: share, fence, .. }) =
                self.claim(step, executor, ttl, pen)
            {
                let taken = self.taken(step, share).map(|it| Taken { fence, ..it });
                bytes += taken.as_ref().map_or(0, |it| it.data.len());
                tasks.extend(taken);
            }
        }
        Ok(Reply::Taken { at: self.head, tasks })
    }

    /// What an executor is told about a task that it has just claimed.
    fn taken(&self, step: Step, share: Step) -> Option<Taken> {
        let deployment = self.deployments.get(&step.deployment)?;
        let Some(Location::Spot(spot)) = self.locate(deployment, step.target, step.kind) else {
            return None;
        };
        let task = self.task_of(step.deployment, (step.target, step.kind))?;
        let fence = self.fence_of(share).ok()?;
        Some(Taken {
            step: share,
            fence,
            task: task.name.clone(),
            path: self.targets.path(step.target).to_string(),
            data: self.task_data(deployment, spot).to_string().into_boxed_str(),
        })
    }

    /// For how long an executor counts as there after it was last heard of, if it is registered.
    #[must_use]
    pub fn time_to_live(&self, executor: &ExecutorName) -> Option<Span> {
        self.executors.get(executor).map(|it| it.ttl)
    }

    /// Executors for whom there is something new to take since this was last asked.
    pub fn woken(&mut self) -> std::collections::BTreeSet<ExecutorName> {
        self.claimable.woken()
    }
}
