use seaway_kernel::{Actor, Reason, Record};
use seaway_model::{DeploymentId, Kind};

use super::ledger::{Status, StepKey};
use super::log::Verifier;
use super::violation::{Rule, Violation};

fn broken(detail: impl Into<String>) -> Result<(), Violation> {
    Err(Violation::new(Rule::SkipReason, detail))
}

impl Verifier {
    /// A step is skipped: its reason must be one that does not skip a gate, and it must be true.
    pub(super) fn skipped(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        record: &Record,
    ) -> Result<(), Violation> {
        let Some(reason) = record.reason() else { return broken("no reason is given") };
        let step = self.lives[&id].steps.get(&key).cloned().unwrap_or_default();
        if let Reason::Person(_) = reason {
            if record.by == Actor::Seaway || step.status.is_complete() {
                return broken(format!("by {} while it was {:?}", record.by, step.status));
            }
            self.reopen(id, key, false);
        } else {
            if step.status != Status::Open {
                return broken(format!("{reason}, but it was {:?}", step.status));
            }
            self.check_reason(id, key, reason, step.tried)?;
        }
        self.set(id, key, Status::Skipped(reason.clone()));
        Ok(())
    }

    fn check_reason(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        reason: &Reason,
        tried: bool,
    ) -> Result<(), Violation> {
        match reason {
            Reason::Surpassed if tried => broken("surpassed, but it was dispatched before"),
            Reason::Surpassed if !self.was_surpassed(id, key) => {
                broken("surpassed, but nothing after it has finished")
            }
            Reason::IntroducedLate if tried || !self.is_younger(id, key) => {
                broken("introduced late, but it was there when the deployment started")
            }
            Reason::Condition => {
                let spot = self.paths.spot(key.0);
                let life = &self.lives[&id];
                let number = self.task_number(life, &spot).unwrap_or_default();
                let definition = life.runs.get(&spot.run).and_then(|run| self.definition(run));
                let Some(definition) = definition else { return Ok(()) };
                let tasks = self.tasks(spot.run, &definition);
                let failed = tasks[..number]
                    .iter()
                    .any(|target| self.status_of(life, *target, Kind::TaskDone) == Status::Failed);
                let holds = match definition.tasks[number].when {
                    seaway_kernel::When::Succeeded => !failed,
                    seaway_kernel::When::Failed => failed,
                    seaway_kernel::When::Always => true,
                };
                if holds { broken("condition, but it holds") } else { Ok(()) }
            }
            Reason::Superseded if !self.is_outdated(id, key) => {
                broken("superseded, but no newer revision is there")
            }
            Reason::Replaced | Reason::Orphaned | Reason::Aborted => {
                broken(format!("{reason} is no reason to skip a step"))
            }
            _ => Ok(()),
        }
    }

    /// Whether something after a step has finished, or a join after it has failed.
    fn was_surpassed(&mut self, id: DeploymentId, key: StepKey) -> bool {
        let spot = self.paths.spot(key.0);
        let life = self.lives[&id].clone();
        let Some(stage) = &spot.stage else { return false };
        if self.is_overtaken(&life, stage) || !self.structure.stages.contains_key(stage) {
            return true;
        }
        let end = life.status((spot.stage_target, Kind::StageFinished));
        if matches!(end, Status::Passed | Status::Failed) && key.1 != Kind::StageFinished {
            return true;
        }
        let mut finished = Vec::new();
        for (key, step) in &life.steps {
            let failed_join = step.status == Status::Failed && !self.has_work(id, *key);
            if step.status == Status::Passed || failed_join {
                finished.push(*key);
            }
        }
        finished.into_iter().any(|later| {
            let there = self.paths.spot(later.0);
            match key.1 {
                Kind::StageStarted => there.stage_target == key.0,
                Kind::StageFinished => false,
                _ => there.run == spot.run && self.is_after(&life, key, later),
            }
        })
    }
}
