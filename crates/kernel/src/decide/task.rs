use seaway_model::planted::{Bug, planted};
use seaway_model::{ExecutorName, Fact, Fence, Span};

use crate::command::answer_detail;
use crate::fold::{Location, ending};
use crate::record::{Detail, Reason};
use crate::schedule::{Draft, Pen};
use crate::state::{Course, Spot};
use crate::{Kernel, Refusal, Reply, Report, Step};

const MIN_TTL: Span = Span::from_secs(1);
const MAX_TTL: Span = Span::from_secs(86_400);

impl Kernel {
    pub(super) fn claim(
        &mut self,
        step: Step,
        executor: &ExecutorName,
        ttl: Span,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        if !(MIN_TTL..=MAX_TTL).contains(&ttl) {
            return Err(Refusal::BadTtl);
        }
        let deployment = self.open_deployment(step.deployment)?;
        if let Course::Aborting { .. } = deployment.course {
            return Err(Refusal::Aborting(step.deployment));
        }
        let spot = self.spot_of(step)?;
        if !deployment.cell(spot).in_flight() {
            return Err(Refusal::NotOffered);
        }
        let key = (step.target, step.kind);
        if let Some(lease) = deployment.leases.get(&key) {
            return Err(Refusal::HeldBy(lease.executor.clone()));
        }
        let lost = deployment.tries(key).leases;
        let n = if planted(Bug::LeaseNumberKept) { lost.max(1) } else { lost + 1 };
        let detail = Some(Box::new(Detail::Lease { executor: executor.clone(), ttl }));
        let draft = Draft { n, detail, ..Draft::new(Fact::Claimed) };
        self.emit_at(step.deployment, key, draft, pen);
        let attempt = self.deployments[&step.deployment].tries(key).attempt;
        Ok(Reply::Claimed { at: self.head, fence: Fence { attempt, lease: n } })
    }

    pub(super) fn report(
        &mut self,
        (step, fence): (Step, Fence),
        report: Report,
        answer: &Option<Box<str>>,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        if answer.as_ref().is_some_and(|answer| answer.len() > Refusal::MAX_ANSWER) {
            return Err(Refusal::AnswerTooLong);
        }
        let current = self.fence_of(step)?;
        if current != fence && !planted(Bug::FenceUnchecked) {
            return Err(Refusal::StaleFence { given: fence, current });
        }
        let deployment = self.open_deployment(step.deployment)?;
        let key = (step.target, step.kind);
        let tries = deployment.tries(key);
        let detail = answer_detail(answer);
        if report == Report::Started && tries.started == Some(fence) {
            // Said again by somebody who got no answer: it is in the log already.
            return Ok(self.done());
        }
        let draft = match (report, &deployment.course) {
            (Report::Started, _) => Draft { n: fence.lease, detail, ..Draft::new(Fact::Started) },
            (Report::Changed, _) => {
                Draft { n: tries.changes + 1, detail, ..Draft::new(Fact::Changed) }
            }
            (Report::Ended(_), Course::Aborting { .. }) => {
                let n = fence.lease;
                Draft { n, ..Draft::because(Fact::Cancelled, Reason::Aborted) }
            }
            (Report::Ended(outcome), _) => {
                let (n, outcome, fact) = (fence.lease, Some(outcome), ending(outcome));
                Draft { n, outcome, detail, ..Draft::new(fact) }
            }
        };
        self.emit_at(step.deployment, key, draft, pen);
        Ok(self.done())
    }

    /// The fence that counts now for a step in flight.
    pub(crate) fn fence_of(&self, step: Step) -> Result<Fence, Refusal> {
        let deployment = self.open_deployment(step.deployment)?;
        let spot = self.spot_of(step)?;
        let tries = deployment.tries((step.target, step.kind));
        let current = Fence { attempt: tries.attempt, lease: tries.leases };
        if !deployment.cell(spot).in_flight() {
            return Err(Refusal::NotOffered);
        }
        Ok(current)
    }

    /// Where a step is, if it is in the structure.
    pub(super) fn spot_of(&self, step: Step) -> Result<Spot, Refusal> {
        let deployment = self.loaded(step.deployment)?;
        match self.locate(deployment, step.target, step.kind) {
            Some(Location::Spot(spot)) => Ok(spot),
            Some(Location::Attic) | None => Err(Refusal::UnknownStep(step.target)),
        }
    }
}
