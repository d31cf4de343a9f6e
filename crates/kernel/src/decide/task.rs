use seaway_model::planted::{Bug, planted};
use seaway_model::{ExecutorName, Fact, Fence, Level, Span};

use super::trigger::{check_data, check_ttl};
use crate::command::answer_detail;
use crate::flow::MAX_PAYLOAD;
use crate::fold::{BY_PERSON, Location, ending};
use crate::record::{Detail, Reason};
use crate::schedule::{Draft, Pen};
use crate::state::{Course, Offer, Part, Spot};
use crate::{Kernel, Refusal, Reply, Report, Step};

impl Kernel {
    pub(super) fn claim(
        &mut self,
        step: Step,
        executor: &ExecutorName,
        ttl: Span,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        if &*executor.0 == BY_PERSON {
            // What waits for a person is answered by one, and not by whoever takes its name.
            return Err(Refusal::ReservedExecutor(executor.clone()));
        }
        check_ttl(ttl)?;
        self.lease_out(step, executor, ttl, pen)
    }

    pub(super) fn lease_out(
        &mut self,
        step: Step,
        executor: &ExecutorName,
        ttl: Span,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        let deployment = self.open_deployment(step.deployment)?;
        if let Course::Aborting { .. } = deployment.course {
            return Err(Refusal::Aborting(step.deployment));
        }
        let spot = self.spot_of(step)?;
        if !deployment.cell(spot).in_flight() {
            return Err(Refusal::NotOffered);
        }
        let task = (step.target, step.kind);
        let key = match deployment.offers.get(&task) {
            None => task,
            Some(offer) => {
                let ended = |part: &Part| part.end.is_some();
                if offer.part(executor).is_some_and(ended) {
                    return Err(Refusal::NotOffered);
                }
                if offer.part(executor).is_none() && !self.is_subscribed(executor, step) {
                    return Err(Refusal::NotSubscribed(executor.clone()));
                }
                let part = self.targets.intern_part(&format!("@{executor}"));
                let target = self.targets.intern(step.target, part, self.head.next());
                (target, step.kind)
            }
        };
        let deployment = self.loaded(step.deployment)?;
        if let Some(lease) = deployment.leases.get(&key) {
            return Err(Refusal::HeldBy(lease.executor.clone()));
        }
        let (attempt, lost) = match (deployment.tries(task), deployment.tries(key)) {
            (whole, share) if whole.attempt == share.attempt => (share.attempt, share.leases),
            (whole, _) => (whole.attempt, 0),
        };
        let revision = deployment.revision;
        let n = if planted(Bug::LeaseNumberKept) { lost.max(1) } else { lost + 1 };
        let detail = Some(Box::new(Detail::Lease { executor: executor.clone(), ttl }));
        let draft = Draft { n, detail, ..Draft::new(Fact::Claimed) };
        let about = (Some(step.deployment), Some(revision), key.0, key.1, attempt);
        self.write(about, draft, pen);
        let step = Step { target: key.0, ..step };
        Ok(Reply::Claimed { at: self.head, step, fence: Fence { attempt, lease: n } })
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
        self.check_answer(step, answer.as_deref())?;
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

    /// The answer to a claim did not reach anybody: the task is offered again at once.
    pub(super) fn give_back_lease(
        &mut self,
        step: Step,
        fence: Fence,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        let current = self.fence_of(step)?;
        if current != fence {
            return Err(Refusal::StaleFence { given: fence, current });
        }
        if !self.loaded(step.deployment)?.leases.contains_key(&(step.target, step.kind)) {
            return Err(Refusal::NotOffered);
        }
        let draft = Draft { n: fence.lease, ..Draft::new(Fact::LeaseExpired) };
        self.emit_at(step.deployment, (step.target, step.kind), draft, pen);
        Ok(self.done())
    }

    /// The fence that counts now for a step in flight.
    pub(crate) fn fence_of(&self, step: Step) -> Result<Fence, Refusal> {
        let deployment = self.open_deployment(step.deployment)?;
        let tries = deployment.tries((step.target, step.kind));
        if let Some(offer) = self.offer_above(step) {
            let mut parts = offer.parts.iter();
            let mine = parts.find(|part| part.target == step.target && part.end.is_none());
            let held = deployment.leases.contains_key(&(step.target, step.kind));
            if mine.is_none() || !held {
                return Err(Refusal::NotOffered);
            }
            return Ok(Fence { attempt: tries.attempt, lease: tries.leases });
        }
        if self.targets.try_get(step.target).is_some_and(|it| it.level == Level::Executor) {
            // The share of a task that is over.
            return Err(Refusal::NotOffered);
        }
        let spot = self.spot_of(step)?;
        if deployment.offers.contains_key(&(step.target, step.kind)) {
            return Err(Refusal::NotOffered);
        }
        let current = Fence { attempt: tries.attempt, lease: tries.leases };
        if !deployment.cell(spot).in_flight() {
            return Err(Refusal::NotOffered);
        }
        Ok(current)
    }

    /// The task that a step is one executor's share of, while it is in flight.
    fn offer_above(&self, step: Step) -> Option<&Offer> {
        let node = self.targets.try_get(step.target)?;
        let offers = &self.deployments.get(&step.deployment)?.offers;
        (node.level == Level::Executor).then(|| offers.get(&(node.parent, step.kind)))?
    }

    /// What an executor adds to the data is an object, and not too much.
    fn check_answer(&self, step: Step, answer: Option<&str>) -> Result<(), Refusal> {
        let (Some(offer), Some(answer)) = (self.offer_above(step), answer) else { return Ok(()) };
        check_data(Some(answer))?;
        let others: usize = offer.answers.iter().map(|text| text.len()).sum();
        let run = self.targets.get(self.targets.get(step.target).parent).parent;
        let deployment = self.loaded(step.deployment)?;
        let run = deployment.derived.run_of.get(&run).map(|key| &deployment.runs[key]);
        let size = run.map_or(0, |run| run.flow.size()) + others + answer.len();
        if size > MAX_PAYLOAD { Err(Refusal::TooMuchData) } else { Ok(()) }
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
