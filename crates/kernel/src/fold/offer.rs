use std::sync::Arc;

use seaway_model::{DeploymentId, ExecutorName, Fact, Kind, Revision, Seq, Span, Timestamp};

use super::apply::IllegalRecord;
use super::locate::Location;
use crate::Kernel;
use crate::record::{Detail, Record, Step};
use crate::state::{Alarm, Executor, Offer, Part, Position, Role, Spot, StepKey, Tries};

/// How long a task waits for somebody who could do it.
pub(crate) const GRACE: Span = Span::from_secs(600);
/// How long a task may take if nothing else is said.
pub(crate) const TIMEOUT: Span = Span::from_secs(86_400);

impl Kernel {
    /// A task goes out to those who subscribed to it.
    pub(super) fn open_offer(&mut self, id: DeploymentId, record: &Record) {
        let Some(Detail::Offered { to }) = record.detail.as_deref() else { return };
        let key = (record.target, record.kind);
        let parts = to.iter().map(|executor| self.new_part(id, key, executor, record.seq));
        let parts: Vec<Part> = parts.collect();
        let alone = parts.is_empty().then_some(record.at);
        let offer = Offer { parts, since: record.at, alone, taken: None, answers: Vec::new() };
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        deployment.offers.insert(key, offer);
        self.index_offer(id, key);
    }

    /// Makes an offer findable, and sets its alarm.
    pub(crate) fn index_offer(&mut self, id: DeploymentId, key: StepKey) {
        if let Some(task) = self.task_of(id, key) {
            let step = Step { deployment: id, target: key.0, kind: key.1 };
            self.offered.entry(task.name.clone()).or_default().insert(step);
        }
        let parts = self.deployments[&id].offers.get(&key).into_iter().flat_map(|it| &it.parts);
        for part in parts {
            let step = Step { deployment: id, target: key.0, kind: key.1 };
            self.shares.entry(part.executor.clone()).or_default().insert(step);
        }
        self.review_shares(id, key);
        self.watch_offer(id, key);
    }

    /// Which shares of an offer may be taken now.
    fn review_shares(&mut self, id: DeploymentId, key: StepKey) {
        let deployment = &self.deployments[&id];
        let Some(offer) = deployment.offers.get(&key) else { return };
        let (revision, started) = deployment.rank();
        let step = Step { deployment: id, target: key.0, kind: key.1 };
        for part in &offer.parts {
            let held = deployment.leases.contains_key(&(part.target, key.1));
            match part.end.is_none() && !held {
                true => self.claimable.put(&part.executor, (revision, started, step)),
                false => self.claimable.take_away(&part.executor, (revision, started, step)),
            }
        }
    }

    fn new_part(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        executor: &ExecutorName,
        seq: Seq,
    ) -> Part {
        let part = self.targets.intern_part(&format!("@{executor}"));
        let target = self.targets.intern(key.0, part, seq);
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let attempt = deployment.tries(key).attempt;
        let tries = deployment.tries.entry((target, key.1)).or_default();
        if tries.attempt != attempt {
            *tries = Tries { attempt, ..Tries::default() };
        }
        let step = Step { deployment: id, target: key.0, kind: key.1 };
        self.shares.entry(executor.clone()).or_default().insert(step);
        Part { executor: executor.clone(), target, end: None }
    }

    /// The definition of the task that a step is.
    pub(crate) fn task_of(&self, id: DeploymentId, key: StepKey) -> Option<&crate::Task> {
        let deployment = self.deployments.get(&id)?;
        let run = self.targets.get(key.0).parent;
        let run = &deployment.runs[deployment.derived.run_of.get(&run)?];
        let task = run.shape.tasks.iter().position(|task| task.target == key.0)?;
        self.world.definitions[run.definition as usize].tasks.get(task)
    }

    /// Sets the alarm for an offer: nobody can take it, or it takes too long.
    fn watch_offer(&mut self, id: DeploymentId, key: StepKey) {
        let Some(offer) = self.deployments[&id].offers.get(&key) else { return };
        let timeout = || {
            let task = self.task_of(id, key);
            let patient = task.is_some_and(|task| task.name.as_str() == APPROVAL);
            let default = if patient { None } else { Some(TIMEOUT) };
            task.and_then(|task| task.timeout).or(default)
        };
        let at = match (offer.alone, offer.taken) {
            (Some(since), _) => Some(since + GRACE),
            (None, taken) => timeout().map(|timeout| taken.unwrap_or(offer.since) + timeout),
        };
        match at {
            Some(at) => self.alarms.set(id, Alarm::Offer(key), at),
            None => self.alarms.clear(id, Alarm::Offer(key)),
        }
    }

    /// What one executor says about its share of a task.
    pub(super) fn fold_part(
        &mut self,
        id: DeploymentId,
        record: &Record,
    ) -> Result<(), IllegalRecord> {
        let unknown = IllegalRecord::UnknownStep { seq: record.seq };
        let node = self.targets.try_get(record.target).ok_or(unknown.clone())?;
        let key = (node.parent, record.kind);
        let executor = ExecutorName(self.targets.part(node.part).trim_start_matches('@').into());
        if !self.deployments[&id].offers.contains_key(&key) {
            return Err(unknown);
        }
        if record.fact == Fact::Claimed {
            self.join_offer(id, key, &executor, record);
        }
        let registered = self.executors.get(&executor).is_some();
        match record.fact {
            Fact::Finished | Fact::Failed | Fact::Cancelled => self.end_lease(id, record),
            _ => self.fold_lease(id, record),
        }
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let offer = deployment.offers.get_mut(&key).expect("it was just looked at");
        match record.fact {
            Fact::Finished | Fact::Failed => {
                if let Some(part) = offer.parts.iter_mut().find(|it| it.executor == executor) {
                    part.end = record.outcome;
                }
                if let Some(Detail::Answer(text)) = record.detail.as_deref() {
                    offer.answers.push(Arc::from(&**text));
                }
            }
            Fact::Cancelled => offer.parts.retain(|part| part.executor != executor),
            Fact::LeaseExpired if !registered => {
                offer.parts.retain(|part| part.executor != executor);
            }
            _ => {}
        }
        if self.deployments[&id].offers[&key].part(&executor).is_none() {
            let step = Step { deployment: id, target: key.0, kind: key.1 };
            self.forget_share(&executor, step, self.deployments[&id].rank());
        }
        self.review_offer(id, key, record.at);
        self.active.insert(self.deployments[&id].rank());
        Ok(())
    }

    fn join_offer(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        executor: &ExecutorName,
        record: &Record,
    ) {
        let known = self.deployments[&id].offers[&key].part(executor).is_some();
        let part = (!known).then(|| self.new_part(id, key, executor, record.seq));
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let offer = deployment.offers.get_mut(&key).expect("it was just looked at");
        offer.parts.extend(part);
        offer.taken.get_or_insert(record.at);
    }

    /// Finds out whether everybody has answered, or nobody is left.
    fn review_offer(&mut self, id: DeploymentId, key: StepKey, at: Timestamp) {
        if self.deployments[&id].offers[&key].parts.is_empty() {
            self.refill_offer(id, key);
        }
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let offer = deployment.offers.get_mut(&key).expect("it was just looked at");
        let alone = offer.parts.is_empty();
        offer.alone = if alone { offer.alone.or(Some(at)) } else { None };
        if offer.end().is_some() {
            deployment.derived.ripe.insert(key);
        } else {
            deployment.derived.ripe.remove(&key);
        }
        self.review_shares(id, key);
        self.watch_offer(id, key);
    }

    /// Nobody who was waited for is left; those who came later are waited for instead.
    fn refill_offer(&mut self, id: DeploymentId, key: StepKey) {
        let deployment = &self.deployments[&id];
        let Some(Location::Spot(spot)) = self.locate(deployment, key.0, key.1) else { return };
        for name in self.subscribers(deployment, spot) {
            let part = self.new_part(id, key, &name, self.head);
            let deployment = self.deployments.get_mut(&id).expect("it was just found");
            deployment.offers.get_mut(&key).expect("it was just looked at").parts.push(part);
        }
    }

    /// A task is over: its executors' shares are too. What they added is part of the data from
    /// here on, if it counts.
    pub(super) fn close_offer(&mut self, id: DeploymentId, spot: Spot, key: StepKey, counts: bool) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let Some(offer) = deployment.offers.remove(&key) else { return };
        deployment.derived.ripe.remove(&key);
        for part in &offer.parts {
            let step = Step { deployment: id, target: part.target, kind: key.1 };
            if deployment.leases.remove(&(part.target, key.1)).is_some() {
                self.volatile.clear(step);
            }
        }
        if let Position::Inside(run, cell) = spot.position()
            && counts
        {
            let run = deployment.runs.get_mut(&run).expect("the step is in it");
            if let Role::TaskDone { task } = run.shape.role(cell) {
                let definition = &self.world.definitions[run.definition as usize].tasks[task];
                run.flow.add_properties(task as u32, definition);
                offer.answers.iter().for_each(|text| run.flow.add(task as u32, text));
            }
        }
        self.alarms.clear(id, Alarm::Offer(key));
        let step = Step { deployment: id, target: key.0, kind: key.1 };
        let rank = self.deployments[&id].rank();
        offer.parts.iter().for_each(|part| self.forget_share(&part.executor, step, rank));
        self.withdraw_offer(step);
    }

    pub(crate) fn forget_share(
        &mut self,
        executor: &ExecutorName,
        step: Step,
        (revision, started): (Revision, Seq),
    ) {
        self.claimable.take_away(executor, (revision, started, step));
        if let Some(steps) = self.shares.get_mut(executor) {
            steps.remove(&step);
            if steps.is_empty() {
                self.shares.remove(executor);
            }
        }
    }

    pub(crate) fn withdraw_offer(&mut self, step: Step) {
        let task = self.targets.part(self.targets.get(step.target).part);
        let name = task.split_once(':').map_or(task, |(name, _)| name);
        if let Some(steps) = self.offered.get_mut(name) {
            steps.remove(&step);
            if steps.is_empty() {
                self.offered.remove(name);
            }
        }
    }

    pub(super) fn fold_executor(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        match (record.fact, record.detail.as_deref()) {
            (
                Fact::ExecutorRegistered,
                Some(Detail::Registers { executor, subscriptions, ttl }),
            ) => {
                let entry = Executor { subscriptions: subscriptions.clone(), ttl: *ttl };
                let now = record.at.max(self.volatile.now);
                self.executors.register(executor, entry, now);
                self.help_out(executor, record);
                Ok(())
            }
            (Fact::ExecutorLeft, Some(Detail::Leaves { executor })) => {
                self.executors.leave(executor);
                self.leave_offers(executor, record.at);
                Ok(())
            }
            _ => Err(IllegalRecord::Incomplete { seq: record.seq }),
        }
    }

    /// Tasks that nobody could do wait for the first who can.
    fn help_out(&mut self, executor: &ExecutorName, record: &Record) {
        let tasks = self.executors.get(executor).into_iter().flat_map(|it| &it.subscriptions);
        let steps: Vec<Step> = tasks
            .filter_map(|subscription| self.offered.get(&subscription.task))
            .flatten()
            .copied()
            .collect();
        for step in steps {
            let key = (step.target, step.kind);
            let offer = &self.deployments[&step.deployment].offers[&key];
            if !offer.parts.is_empty() {
                continue;
            }
            self.review_offer(step.deployment, key, record.at);
        }
    }

    /// Nobody waits for an executor that left, unless it still holds a lease.
    fn leave_offers(&mut self, executor: &ExecutorName, at: Timestamp) {
        let steps: Vec<Step> = self.shares.get(executor).into_iter().flatten().copied().collect();
        for step in steps {
            let key = (step.target, step.kind);
            let deployment = self.deployments.get_mut(&step.deployment).expect("it has offers");
            let offer = deployment.offers.get_mut(&key).expect("it is indexed");
            let leases = &deployment.leases;
            let before = offer.parts.len();
            offer.parts.retain(|part| {
                part.executor != *executor
                    || part.end.is_some()
                    || leases.contains_key(&(part.target, Kind::TaskDone))
            });
            if offer.parts.len() != before {
                let rank = deployment.rank();
                self.forget_share(executor, step, rank);
                self.review_offer(step.deployment, key, at);
                self.active.insert(self.deployments[&step.deployment].rank());
            }
        }
    }
}

/// The reserved task that waits for a person.
pub(crate) const APPROVAL: &str = "approval";
/// The executor of approvals that nobody else subscribed to: whoever may deliver.
pub(crate) const BY_PERSON: &str = "seaway/approval";
