use seaway_model::{DeploymentId, Fact, Kind, Name, TargetId, TargetTable};

use super::ledger::{Life, Status, StepKey};
use super::log::Verifier;
use super::paths::Spot;
use super::violation::{Rule, Violation};

fn broken(rule: Rule, detail: impl Into<String>) -> Result<(), Violation> {
    Err(Violation::new(rule, detail))
}

impl Verifier {
    /// What comes right before a step is through.
    pub(super) fn check_ready(&mut self, id: DeploymentId, key: StepKey) -> Result<(), Violation> {
        let spot = self.paths.spot(key.0);
        let life = &self.lives[&id];
        let through = |target: TargetId, kind: Kind| life.status((target, kind)).is_complete();
        match key.1 {
            Kind::StageStarted => self.check_stages_before(life, &spot),
            Kind::SequenceTriggered if !through(spot.stage_target, Kind::StageStarted) => {
                broken(Rule::Order, "its stage has not started")
            }
            Kind::SequenceStarted
                if self.is_yard(spot.stage.as_ref())
                    && !through(spot.stage_target, Kind::StageStarted) =>
            {
                broken(Rule::Order, "its stage has not started")
            }
            Kind::SequenceStarted if !through(spot.run, Kind::SequenceTriggered) => {
                broken(Rule::Order, "its run was not triggered")
            }
            Kind::TaskDone | Kind::GroupStarted => self.check_tasks_before(life, &spot),
            _ if spot.member.is_some() => {
                let Some(stage) = spot.stage.as_ref().and_then(|it| self.stage(it)) else {
                    return Ok(());
                };
                let group = spot.group.as_ref().and_then(|group| stage.groups.get(group));
                let chain = group.map(|group| group.chain.clone()).unwrap_or_default();
                let mut before = chain.into_iter().take_while(|kind| *kind != key.1);
                match before.find(|kind| !through(key.0, *kind)) {
                    Some(kind) => broken(Rule::Gate, format!("{kind} is not through")),
                    None if !through(spot.group_target, Kind::GroupStarted) => {
                        broken(Rule::Order, "its group has not started")
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn check_tasks_before(&self, life: &Life, spot: &Spot) -> Result<(), Violation> {
        let Some(number) = self.task_number(life, spot) else {
            return broken(Rule::Order, "its run has no such task");
        };
        let run = &life.runs[&spot.run];
        let Some(definition) = self.definition(run) else { return Ok(()) };
        if !life.status((spot.run, Kind::SequenceStarted)).is_complete() {
            return broken(Rule::Order, "its run has not started");
        }
        let tasks = self.tasks(spot.run, &definition);
        let before: Vec<Status> = tasks[..number]
            .iter()
            .map(|target| self.status_of(life, *target, Kind::TaskDone))
            .collect();
        if let Some(open) = before.iter().position(|status| !status.is_settled()) {
            return broken(Rule::Order, format!("task {open} before it is open"));
        }
        let failed = before.contains(&Status::Failed);
        let holds = match definition.tasks[number].when {
            seaway_kernel::When::Succeeded => !failed,
            seaway_kernel::When::Failed => failed,
            seaway_kernel::When::Always => true,
        };
        if holds { Ok(()) } else { broken(Rule::Gate, "its condition does not hold") }
    }

    /// Every stage right before this one is through, or was overtaken long ago.
    fn check_stages_before(&self, life: &Life, spot: &Spot) -> Result<(), Violation> {
        let Some(name) = &spot.stage else { return Ok(()) };
        let Some(stage) = self.structure.stages.get(name) else { return Ok(()) };
        for before in &stage.after {
            let target = self.paths.child(TargetTable::ROOT, before.as_str());
            let finish = self.status_of(life, target, Kind::StageFinished);
            if !finish.is_complete() && !self.is_overtaken(life, before) {
                return broken(Rule::Gate, format!("stage {before} is {finish:?}"));
            }
        }
        Ok(())
    }

    /// Whether the deployment finished something in a stage after this one.
    pub(super) fn is_overtaken(&self, life: &Life, stage: &Name) -> bool {
        let mut open = vec![stage];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(stage) = open.pop() {
            for (name, later) in &self.structure.stages {
                if later.after.contains(stage) && seen.insert(name) {
                    open.push(name);
                }
            }
        }
        let finished = |name: &&Name| {
            let target = self.paths.child(TargetTable::ROOT, name.as_str());
            let mut steps = life.steps.iter();
            target.is_some_and(|target| {
                steps
                    .any(|(key, step)| step.status == Status::Passed && self.lies_in(key.0, target))
            })
        };
        seen.iter().any(finished)
    }

    fn lies_in(&self, mut target: TargetId, above: TargetId) -> bool {
        while target != TargetTable::ROOT {
            if target == above {
                return true;
            }
            target = self.paths.table.get(target).parent;
        }
        false
    }

    /// A join ends: everything that it joins has ended, and nothing that gates it is missing.
    pub(super) fn check_join(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        fact: Fact,
    ) -> Result<(), Violation> {
        let spot = self.paths.spot(key.0);
        let life = &self.lives[&id];
        match key.1 {
            Kind::GroupFinished => self.check_group(life, &spot, fact),
            Kind::TaskDone => self.check_groups_of_task(life, &spot, key.0),
            Kind::SequenceFinished => self.check_run(life, spot.run, fact),
            Kind::StageFinished => self.check_stage(life, &spot, fact),
            Kind::PipelineFinished => self.check_pipeline(life, fact),
            _ => Ok(()),
        }
    }

    fn check_group(&self, life: &Life, spot: &Spot, fact: Fact) -> Result<(), Violation> {
        let group = spot.stage.as_ref().and_then(|stage| self.stage(stage));
        let group = group.zip(spot.group.as_ref()).and_then(|(it, name)| it.groups.get(name));
        let Some(group) = group else { return Ok(()) };
        for member in group.members.iter() {
            let target = self.paths.child(spot.group_target, member.as_str());
            for kind in &group.chain {
                match self.status_of(life, target, *kind) {
                    status if status.is_complete() => {}
                    Status::Failed if fact == Fact::Failed => break,
                    status => {
                        let rule = if status.is_settled() { Rule::Gate } else { Rule::Join };
                        return broken(rule, format!("{kind} of {member} is {status:?}"));
                    }
                }
            }
        }
        Ok(())
    }

    fn check_groups_of_task(
        &self,
        life: &Life,
        spot: &Spot,
        task: TargetId,
    ) -> Result<(), Violation> {
        let Some(number) = self.task_number(life, spot) else { return Ok(()) };
        let Some(definition) = self.definition(&life.runs[&spot.run]) else { return Ok(()) };
        let stage = spot.stage.as_ref().and_then(|stage| self.stage(stage));
        for group in &definition.tasks[number].groups {
            let there = stage.is_some_and(|stage| stage.groups.contains_key(group));
            let target = self.paths.child(task, group.as_str());
            if there && !self.status_of(life, target, Kind::GroupFinished).is_settled() {
                return broken(Rule::Join, format!("group {group} is open"));
            }
        }
        Ok(())
    }

    fn check_run(&self, life: &Life, run: TargetId, fact: Fact) -> Result<(), Violation> {
        let Some(definition) = self.definition(&life.runs[&run]) else { return Ok(()) };
        let tasks = self.tasks(run, &definition);
        for (task, target) in definition.tasks.iter().zip(tasks) {
            let status = self.status_of(life, target, Kind::TaskDone);
            if !status.is_settled() {
                return broken(Rule::Join, format!("task {} is {status:?}", task.name));
            }
            if fact == Fact::Finished && !status.is_complete() {
                return broken(Rule::Gate, format!("task {} is {status:?}", task.name));
            }
        }
        Ok(())
    }

    fn check_stage(&self, life: &Life, spot: &Spot, fact: Fact) -> Result<(), Violation> {
        let Some(stage) = &spot.stage else { return Ok(()) };
        if self.is_yard(Some(stage)) {
            return self.check_runs_in(life, stage);
        }
        let now = self.structure.stages.get(stage);
        let begun = life.runs.iter().filter(|(_, run)| {
            let there = now.is_some_and(|stage| stage.sequences.contains_key(&run.sequence));
            run.stage == *stage && (run.definition.is_some() || there)
        });
        let mut runs: Vec<Option<TargetId>> = begun.map(|(target, _)| Some(*target)).collect();
        let sequences = now.into_iter().flat_map(|stage| stage.sequences.keys());
        runs.extend(
            sequences.map(|sequence| self.paths.child(spot.stage_target, &format!("{sequence}#1"))),
        );
        for run in runs {
            let status = self.status_of(life, run, Kind::SequenceFinished);
            if !status.is_settled() {
                return broken(Rule::Join, format!("run {run:?} is {status:?}"));
            }
            if fact == Fact::Finished && !status.is_complete() {
                return broken(Rule::Gate, format!("run {run:?} is {status:?}"));
            }
        }
        Ok(())
    }

    /// A triggered stage ends when no run in it is open.
    fn check_runs_in(&self, life: &Life, stage: &Name) -> Result<(), Violation> {
        let mut runs = life.runs.iter().filter(|(_, run)| run.stage == *stage && !run.is_gone());
        let open = runs.find(|(run, _)| !life.status((**run, Kind::SequenceFinished)).is_settled());
        match open {
            Some((run, _)) => broken(Rule::Join, format!("{} is open", self.paths.text(*run))),
            None => Ok(()),
        }
    }

    /// A deployment ends when all its runs have ended in the log.
    pub(super) fn check_runs_ended(&self, id: DeploymentId) -> Result<(), Violation> {
        let life = &self.lives[&id];
        let mut runs = life.runs.iter().filter(|(_, run)| run.born.is_some());
        let open = runs.find(|(run, _)| !life.status((**run, Kind::SequenceFinished)).is_settled());
        match open {
            Some((run, _)) => {
                broken(Rule::Trigger, format!("{} never ended", self.paths.text(*run)))
            }
            None => Ok(()),
        }
    }

    fn check_pipeline(&self, life: &Life, fact: Fact) -> Result<(), Violation> {
        if life.is_flying(|_| true) {
            return broken(Rule::Join, "something is in flight");
        }
        let failed = life.steps.values().any(|step| step.status == Status::Failed && step.tried);
        let entered = |stage: &&Name| {
            let mut runs = life.runs.values();
            !self.is_yard(Some(stage)) || runs.any(|run| run.stage == **stage && !run.is_gone())
        };
        let stages = self.structure.stages.keys().filter(|_| fact == Fact::Finished);
        for stage in stages.filter(entered) {
            let target = self.paths.child(TargetTable::ROOT, stage.as_str());
            let status = self.status_of(life, target, Kind::StageFinished);
            if !status.is_complete() {
                return broken(Rule::Gate, format!("stage {stage} is {status:?} ({failed})"));
            }
        }
        Ok(())
    }
}
