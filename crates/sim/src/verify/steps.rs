use seaway_kernel::{Detail, Reason, Record};
use seaway_model::{DeploymentId, Fact, Kind, Level, TargetTable};

use super::ledger::{Course, RunLog, Status, StepKey};
use super::log::Verifier;
use super::violation::{Rule, Violation};

fn broken(rule: Rule, detail: impl Into<String>) -> Result<(), Violation> {
    Err(Violation::new(rule, detail))
}

impl Verifier {
    /// A record about a step.
    pub(super) fn step(&mut self, record: &Record) -> Result<(), Violation> {
        let known = record.deployment.filter(|id| self.lives.contains_key(id));
        let Some(id) = known else { return broken(Rule::Order, "the deployment is not known") };
        let key = (record.target, record.kind);
        if let Some(share) = self.paths.share(record.target) {
            return self.share(id, share, record);
        }
        let told =
            |detail: &Detail| matches!(detail, Detail::Triggered { .. } | Detail::Refused { .. });
        if record.detail.as_deref().is_some_and(told) {
            self.triggered(id, record)?;
            self.release_after(id, key);
            return Ok(());
        }
        self.check_gone(id, record)?;
        self.note_run(id, record);
        self.check_attempt(id, key, record)?;
        match record.fact {
            Fact::Dispatched => self.dispatched(id, key, record)?,
            Fact::Claimed | Fact::Started | Fact::Changed | Fact::LeaseExpired => {
                self.leased(id, key, record)?;
            }
            Fact::Finished | Fact::Failed if self.is_offered(key) => {
                self.task_ended(id, key, record)?;
            }
            Fact::Finished | Fact::Failed => self.ended(id, key, record)?,
            Fact::Skipped => self.skipped(id, key, record)?,
            Fact::Superseded => self.set(id, key, Status::Superseded),
            Fact::Cancelled => self.cancelled(id, key, record)?,
            Fact::Retried => self.retried(id, key, record)?,
            fact => return broken(Rule::Order, format!("{fact} is not about a step")),
        }
        self.close(id, key, record)?;
        self.release_after(id, key);
        Ok(())
    }

    /// What a task in flight, a run or a deployment leaves behind when it ends.
    fn close(&mut self, id: DeploymentId, key: StepKey, record: &Record) -> Result<(), Violation> {
        let life = self.lives.get_mut(&id).expect("the caller found it");
        if *life.status(key) != Status::Flying {
            life.yard.offers.remove(&key.0);
        }
        match key.1 {
            Kind::SequenceFinished => self.run_ended(id, key.0, record),
            Kind::PipelineFinished => {
                self.check_nothing_due(id)?;
                self.check_runs_ended(id)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn note_run(&mut self, id: DeploymentId, record: &Record) {
        let pins = matches!(record.detail.as_deref(), Some(Detail::Pins { .. }));
        if self.paths.table.get(record.target).level != Level::Run && !pins {
            return;
        }
        let spot = self.paths.spot(record.target);
        let (Some(stage), Some(sequence)) = (spot.stage.clone(), spot.sequence.clone()) else {
            return;
        };
        let now = self.stage(&stage).and_then(|stage| stage.sequences.get(&sequence)).cloned();
        let life = self.lives.get_mut(&id).expect("the caller found it");
        let run = RunLog { stage, sequence, definition: None, born: None };
        let run = life.runs.entry(spot.run).or_insert(run);
        if pins && run.definition.is_none() {
            run.definition = now;
        }
    }

    fn check_attempt(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        record: &Record,
    ) -> Result<(), Violation> {
        let life = self.lives.get_mut(&id).expect("the caller found it");
        if record.revision != Some(life.revision) {
            return broken(Rule::Order, "it names another revision than its deployment has");
        }
        let step = life.steps.entry(key).or_default();
        let ends = matches!(key.1, Kind::StageFinished | Kind::PipelineFinished);
        if ends && step.status.is_settled() && record.attempt == step.attempt.next() {
            // A run that came later opened the ends of its stage and of the pipeline again.
            life.reopen(key);
        }
        let step = life.steps.entry(key).or_default();
        let expected = match record.fact {
            Fact::Retried => step.attempt.next(),
            _ => step.attempt,
        };
        if record.attempt != expected {
            let found = record.attempt;
            return broken(Rule::Order, format!("attempt {found} where {expected} is due"));
        }
        Ok(())
    }

    pub(super) fn set(&mut self, id: DeploymentId, key: StepKey, status: Status) {
        let life = self.lives.get_mut(&id).expect("the caller found it");
        let step = life.steps.entry(key).or_default();
        let did = matches!(status, Status::Flying | Status::Passed | Status::Failed);
        step.tried |= did || status == Status::Backoff;
        step.spent += u32::from(status == Status::Backoff);
        step.status = status;
    }

    fn dispatched(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        record: &Record,
    ) -> Result<(), Violation> {
        let has_work = self.has_work(id, key);
        let life = &self.lives[&id];
        if *life.status(key) != Status::Open || !has_work {
            return broken(Rule::Order, format!("it was {:?}", life.status(key)));
        }
        if life.course != Course::Running {
            return broken(Rule::Order, format!("its deployment is {:?}", life.course));
        }
        self.check_ready(id, key)?;
        self.check_late(id, key)?;
        self.enter(id, key)?;
        self.set(id, key, Status::Flying);
        if self.is_offered(key) { self.offer(id, record) } else { Ok(()) }
    }

    fn leased(&mut self, id: DeploymentId, key: StepKey, record: &Record) -> Result<(), Violation> {
        let life = self.lives.get_mut(&id).expect("the caller found it");
        let step = life.steps.entry(key).or_default();
        if step.status != Status::Flying {
            return broken(Rule::Fence, format!("it was {:?}", step.status));
        }
        match record.fact {
            Fact::Claimed if record.n != step.lease + 1 => {
                broken(Rule::Fence, format!("lease {} follows {}", record.n, step.lease))
            }
            Fact::Claimed => {
                step.lease = record.n;
                Ok(())
            }
            Fact::Started | Fact::LeaseExpired if record.n != step.lease => {
                broken(Rule::Fence, format!("lease {} counts, not {}", step.lease, record.n))
            }
            _ => Ok(()),
        }
    }

    fn ended(&mut self, id: DeploymentId, key: StepKey, record: &Record) -> Result<(), Violation> {
        let has_work = self.has_work(id, key);
        let life = &self.lives[&id];
        let step = life.steps.get(&key).cloned().unwrap_or_default();
        if has_work {
            if step.status != Status::Flying {
                return broken(Rule::Fence, format!("an answer, but it was {:?}", step.status));
            }
            if record.n != step.lease {
                let detail = format!("lease {} answered, but {} counts", record.n, step.lease);
                return broken(Rule::Fence, detail);
            }
        } else {
            if step.status != Status::Open {
                return broken(Rule::Order, format!("it was {:?}", step.status));
            }
            if life.course != Course::Running {
                return broken(Rule::Order, format!("its deployment is {:?}", life.course));
            }
            self.check_ready(id, key)?;
            self.check_join(id, key, record.fact)?;
            self.enter(id, key)?;
        }
        let passed = record.fact == Fact::Finished;
        self.set(id, key, if passed { Status::Passed } else { Status::Failed });
        Ok(())
    }

    fn cancelled(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        record: &Record,
    ) -> Result<(), Violation> {
        let life = self.lives.get_mut(&id).expect("the caller found it");
        let aborting = life.course == Course::Aborting;
        let step = life.steps.entry(key).or_default();
        match record.reason() {
            Some(Reason::Orphaned) if step.status == Status::Flying => {
                step.status = Status::Open;
                step.tried = false;
                step.attempt = step.attempt.next();
                step.lease = 0;
                self.release_departed(id);
                Ok(())
            }
            Some(Reason::Withdrawn) if key.1 == Kind::SequenceFinished && !step.tried => {
                step.status = Status::Cancelled;
                Ok(())
            }
            Some(Reason::Aborted) if aborting && step.status != Status::Cancelled => {
                step.status = Status::Cancelled;
                Ok(())
            }
            reason => {
                broken(Rule::Order, format!("{:?} cannot be cancelled: {reason:?}", step.status))
            }
        }
    }

    fn retried(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        record: &Record,
    ) -> Result<(), Violation> {
        let status = self.lives[&id].status(key).clone();
        let by_person = record.by != seaway_kernel::Actor::Seaway;
        if !by_person {
            self.check_retry(id, key, &status)?;
        }
        if by_person && !matches!(status, Status::Failed | Status::Backoff) {
            return broken(Rule::Order, format!("a retry, but it was {status:?}"));
        }
        let open = status == Status::Open;
        let by_itself = !by_person && status == Status::Backoff;
        let spent = self.lives[&id].steps.get(&key).map_or(0, |step| step.spent);
        self.reopen(id, key, true);
        let life = self.lives.get_mut(&id).expect("the caller found it");
        life.steps.entry(key).or_default().spent = if by_itself { spent } else { 0 };
        if open {
            // A restart of something that never got that far opens its next attempt all the same.
            let life = self.lives.get_mut(&id).expect("the caller found it");
            let step = life.steps.entry(key).or_default();
            step.attempt = record.attempt;
        }
        Ok(())
    }

    /// Whether somebody outside has to do the step.
    pub(super) fn has_work(&mut self, id: DeploymentId, key: StepKey) -> bool {
        if key.1 != Kind::TaskDone {
            return !key.1.is_marker();
        }
        let spot = self.paths.spot(key.0);
        let life = &self.lives[&id];
        let number = self.task_number(life, &spot);
        let definition = life.runs.get(&spot.run).and_then(|run| self.definition(run));
        let task =
            definition.zip(number).map(|(definition, number)| definition.tasks[number].clone());
        let stage = spot.stage.as_ref().and_then(|stage| self.stage(stage));
        task.is_none_or(|task| {
            let there = |group: &&seaway_model::Name| {
                stage.is_some_and(|stage| stage.groups.contains_key(*group))
            };
            !task.groups.iter().any(|group| there(&group))
        })
    }

    /// What a person could retry: every failed step of a deployment that was not superseded.
    pub(crate) fn failed_steps(&self) -> Vec<seaway_kernel::Step> {
        let mut failed = Vec::new();
        for (id, life) in &self.lives {
            let end = life.status((TargetTable::ROOT, Kind::PipelineFinished));
            if !matches!(end, Status::Open | Status::Failed) || life.course == Course::Aborting {
                continue;
            }
            for (&(target, kind), step) in &life.steps {
                let stage = self.paths.stage_name(target);
                let task = kind == Kind::TaskDone && self.is_yard(stage.as_ref());
                if step.status == Status::Failed && step.tried && (task || step.lease > 0) {
                    failed.push(seaway_kernel::Step { deployment: *id, target, kind });
                }
            }
        }
        failed
    }
}
