use std::collections::BTreeMap;

use seaway_kernel::{Actor, Detail, Entry, Reason, Record, Subscription, Task};
use seaway_model::{Attempt, DeploymentId, ExecutorName, Fact, Kind, Outcome, TargetId};

use super::born::{Offer, Part};
use super::ledger::{Course, Status, StepKey};
use super::log::Verifier;
use super::violation::{Rule, Violation};

/// Who is registered, and for what.
pub(super) type Crew = BTreeMap<ExecutorName, Vec<Subscription>>;

fn broken(rule: Rule, detail: impl Into<String>) -> Result<(), Violation> {
    Err(Violation::new(rule, detail))
}

impl Verifier {
    /// An executor registered or left.
    pub(super) fn muster(&mut self, record: &Record) -> Result<(), Violation> {
        match record.detail.as_deref() {
            Some(Detail::Registers { executor, subscriptions, .. }) => {
                self.crew.insert(executor.clone(), subscriptions.clone());
                Ok(())
            }
            Some(Detail::Leaves { executor }) => {
                if self.crew.remove(executor).is_none() {
                    return broken(Rule::Order, format!("{executor} was not there"));
                }
                for life in self.lives.values_mut() {
                    for offer in life.yard.offers.values_mut() {
                        // Nobody waits for it any more, unless it holds a lease.
                        if offer.parts.get(executor) == Some(&Part::Open) {
                            offer.parts.remove(executor);
                        }
                    }
                }
                Ok(())
            }
            _ => broken(Rule::Order, "it does not say who"),
        }
    }

    /// Whether a step is a task that goes to whoever subscribed to it.
    pub(super) fn is_offered(&mut self, key: StepKey) -> bool {
        let spot = self.paths.spot(key.0);
        let stage = spot.stage.as_ref().and_then(|stage| self.stage(stage));
        let triggered = stage.is_some_and(|stage| stage.entry == Entry::Triggered);
        key.1 == Kind::TaskDone && triggered
    }

    /// A task goes out: everybody who subscribed to it is waited for.
    pub(super) fn offer(&mut self, id: DeploymentId, record: &Record) -> Result<(), Violation> {
        let Some(Detail::Offered { to }) = record.detail.as_deref() else {
            return broken(Rule::Share, "it does not say to whom it goes");
        };
        let spot = self.paths.spot(record.target);
        let task = self.task_of(id, record.target).map(|task| task.name);
        let service = &self.lives[&id].service;
        for (executor, subscriptions) in &self.crew {
            let certain = subscriptions.iter().any(|it| {
                let here = spot.stage.as_ref().is_some_and(|stage| it.stages.contains(stage));
                Some(&it.task) == task.as_ref()
                    && (it.stages.is_empty() || here)
                    && (it.services.is_empty() || it.services.contains(service))
                    && it.expressions.is_empty()
            });
            if certain && !to.contains(executor) {
                return broken(Rule::Share, format!("{executor} subscribed and is left out"));
            }
        }
        if let Some(unknown) = to.iter().find(|executor| !self.crew.contains_key(*executor)) {
            return broken(Rule::Share, format!("{unknown} is not registered"));
        }
        let parts = to.iter().map(|executor| (executor.clone(), Part::Open)).collect();
        let life = self.lives.get_mut(&id).expect("the caller found it");
        life.yard.offers.insert(record.target, Offer { parts });
        Ok(())
    }

    /// What one executor says about its share of a task, or what becomes of it.
    pub(super) fn share(
        &mut self,
        id: DeploymentId,
        (task, who): (TargetId, ExecutorName),
        record: &Record,
    ) -> Result<(), Violation> {
        let life = self.lives.get_mut(&id).expect("the caller found it");
        let step = life.steps.get(&(task, record.kind)).cloned().unwrap_or_default();
        let Some(offer) = life.yard.offers.get_mut(&task).filter(|_| step.status == Status::Flying)
        else {
            return broken(Rule::Fence, format!("its task was {:?}", step.status));
        };
        if record.attempt != step.attempt {
            let counts = step.attempt;
            return broken(Rule::Fence, format!("attempt {counts} counts"));
        }
        let part = offer.parts.get(&who).copied();
        let lease = life.yard.leases.entry(record.target).or_insert((Attempt(0), 0));
        if lease.0 != record.attempt {
            *lease = (record.attempt, 0);
        }
        if record.fact == Fact::Claimed {
            let aborting = life.course == Course::Aborting;
            if record.n != lease.1 + 1 || matches!(part, Some(Part::Held | Part::Ended(_))) {
                let detail = format!("lease {} follows {}; it was {part:?}", record.n, lease.1);
                return broken(Rule::Fence, detail);
            }
            if aborting || (part.is_none() && !self.crew.contains_key(&who)) {
                return broken(Rule::Order, format!("{who} may not take it"));
            }
            lease.1 = record.n;
            offer.parts.insert(who, Part::Held);
            return Ok(());
        }
        if part != Some(Part::Held) || (record.fact != Fact::Changed && record.n != lease.1) {
            let (n, newest) = (record.n, lease.1);
            let detail = format!("lease {n} of {newest}, and the share was {part:?}");
            return broken(Rule::Fence, detail);
        }
        match (record.fact, record.outcome) {
            (Fact::Finished | Fact::Failed, Some(outcome)) => {
                offer.parts.insert(who, Part::Ended(outcome));
            }
            (Fact::Cancelled, _) => {
                offer.parts.remove(&who);
            }
            (Fact::LeaseExpired, _) if !self.crew.contains_key(&who) => {
                offer.parts.remove(&who);
            }
            (Fact::LeaseExpired, _) => {
                offer.parts.insert(who, Part::Open);
            }
            (Fact::Started | Fact::Changed, _) => {}
            (fact, _) => return broken(Rule::Order, format!("{fact} is not about a share")),
        }
        Ok(())
    }

    /// A task ends: all who took it or were waited for have answered, and the worst counts; or it
    /// was given up for a reason.
    pub(super) fn task_ended(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        record: &Record,
    ) -> Result<(), Violation> {
        let life = &self.lives[&id];
        let status = life.status(key).clone();
        let offer = life.yard.offers.get(&key.0).cloned().unwrap_or_default();
        let held = offer.parts.values().any(|part| *part == Part::Held);
        let flying = status == Status::Flying;
        let fits = match record.reason() {
            // Who held a share of it was told to stop before.
            Some(Reason::TimedOut) => flying && !held,
            Some(Reason::NoExecutor) => flying && offer.parts.is_empty(),
            Some(Reason::RunTimedOut) => !status.is_settled() && !held,
            None => flying && !offer.parts.is_empty() && worst(&offer) == record.outcome,
            Some(_) => false,
        };
        let failed = record.outcome == Some(Outcome::Fail);
        let given_up = record.reason().is_some();
        if !fits || record.by != Actor::Seaway || (given_up && !failed) {
            let parts = &offer.parts;
            let detail = format!("it was {status:?} with {parts:?}");
            return broken(Rule::Share, detail);
        }
        let limit = self.task_of(id, key.0).map_or(0, |task| task.retries.limit);
        let spent = self.lives[&id].steps.get(&key).map_or(0, |step| step.spent);
        let again = spent < limit && record.reason() != Some(&Reason::RunTimedOut);
        let status = match (failed, again) {
            (true, true) => Status::Backoff,
            (true, false) => Status::Failed,
            (false, _) => Status::Passed,
        };
        self.set(id, key, status);
        let life = self.lives.get_mut(&id).expect("the caller found it");
        life.yard.offers.remove(&key.0);
        Ok(())
    }

    /// What Seaway tries again by itself: what waits for that, or a range that starts again.
    pub(super) fn check_retry(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        status: &Status,
    ) -> Result<(), Violation> {
        if *status != Status::Failed || !self.is_offered(key) {
            return Ok(());
        }
        let spot = self.paths.spot(key.0);
        let life = &self.lives[&id];
        let number = self.task_number(life, &spot);
        let run = life.runs.get(&spot.run).and_then(|run| self.definition(run));
        let first = run.and_then(|it| Some(it.range.as_ref()?.first as usize));
        if first.is_some() && first == number {
            return Ok(());
        }
        broken(Rule::Bounds, "it was tried as often as it may be")
    }

    /// The definition of a task.
    pub(super) fn task_of(&mut self, id: DeploymentId, target: TargetId) -> Option<Task> {
        let spot = self.paths.spot(target);
        let life = &self.lives[&id];
        let number = self.task_number(life, &spot)?;
        let definition = self.definition(life.runs.get(&spot.run)?)?;
        definition.tasks.get(number).cloned()
    }
}

/// The worst answer, once all have answered.
fn worst(offer: &Offer) -> Option<Outcome> {
    let ends: Option<Vec<Outcome>> = offer
        .parts
        .values()
        .map(|part| match part {
            Part::Ended(outcome) => Some(*outcome),
            Part::Open | Part::Held => None,
        })
        .collect();
    let rank = |outcome: &Outcome| match outcome {
        Outcome::Pass => 0,
        Outcome::Warning => 1,
        Outcome::Fail => 2,
    };
    ends?.into_iter().max_by_key(rank)
}
