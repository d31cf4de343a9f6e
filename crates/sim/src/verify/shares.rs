use std::collections::BTreeMap;

use seaway_kernel::{Actor, Detail, Entry, Reason, Record, Subscription, Task};
use seaway_model::{Attempt, DeploymentId, ExecutorName, Fact, Kind, Outcome, TargetId};

use super::born::{Offer, Part};
use super::ledger::{Course, Status, StepKey};
use super::log::Verifier;
use super::violation::{Rule, Violation};

/// The executor that stands for whoever may approve.
const PERSON: &str = "seaway/approval";

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
        let task = self.task_of(id, record.target);
        let ours = task.as_ref().and_then(forced).as_deref() == Some("builtin");
        let task = task.map(|task| task.name).filter(|_| !ours);
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
        let person = |executor: &&ExecutorName| &*executor.0 == PERSON;
        let mut others = to.iter().filter(|it| !person(it));
        if let Some(unknown) = others.find(|executor| !self.crew.contains_key(*executor)) {
            return broken(Rule::Share, format!("{unknown} is not registered"));
        }
        self.check_person(id, record.target, to)?;
        let parts = to.iter().map(|executor| (executor.clone(), Part::Open)).collect();
        let life = self.lives.get_mut(&id).expect("the caller found it");
        life.yard.offers.insert(record.target, Offer { parts });
        Ok(())
    }

    /// A person is waited for where a task is an approval that nobody else decides.
    fn check_person(
        &mut self,
        id: DeploymentId,
        target: TargetId,
        to: &[ExecutorName],
    ) -> Result<(), Violation> {
        let Some(task) = self.task_of(id, target) else { return Ok(()) };
        let waits = to.iter().any(|executor| &*executor.0 == PERSON);
        let fits = match (may_approve(&task), forced(&task).as_deref()) {
            (false, _) => !waits,
            (true, Some("builtin")) => waits && to.len() == 1,
            (true, _) => !to.is_empty() && (!waits || to.len() == 1),
        };
        if fits { Ok(()) } else { broken(Rule::Share, format!("{} goes to {to:?}", task.name)) }
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
            // When nobody is left who subscribed, a person may answer instead.
            let steps_in = &*who.0 == PERSON && offer.parts.is_empty();
            if aborting || (part.is_none() && !steps_in && !self.crew.contains_key(&who)) {
                return broken(Rule::Order, format!("{who} may not take it"));
            }
            lease.1 = record.n;
            offer.parts.insert(who.clone(), Part::Held);
            return if steps_in { self.check_person(id, task, &[who]) } else { Ok(()) };
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
        // A person is always there.
        let by_person = self.task_of(id, key.0).is_some_and(|task| may_approve(&task));
        let fits = match record.reason() {
            // Who held a share of it was told to stop before.
            Some(Reason::TimedOut) => flying && !held,
            Some(Reason::NoExecutor) => flying && offer.parts.is_empty() && !by_person,
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

/// Whether a person answers a task if nobody subscribed to it.
fn may_approve(task: &Task) -> bool {
    task.name.as_str() == "approval" && forced(task).as_deref() != Some("external")
}

/// Who has to do an approval, as its properties say.
fn forced(task: &Task) -> Option<String> {
    if task.name.as_str() != "approval" {
        return None;
    }
    let properties: serde_json::Value = serde_json::from_str(task.properties.as_deref()?).ok()?;
    Some(properties.get("executor")?.as_str()?.to_owned())
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
