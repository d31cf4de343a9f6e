use std::collections::BTreeSet;

use seaway_kernel::{Batch, Entry, Stage};
use seaway_model::{DeploymentId, Kind, Name, Outcome, TargetId};

use super::ledger::{Course, Life, RunLog, Status, StepKey};
use super::log::Verifier;
use super::paths::Spot;
use super::permits::Key;
use super::violation::Violation;

/// The reserved task that waits for a person.
const APPROVAL: &str = "approval";

impl Life {
    /// The run in whose name a run works.
    pub(super) fn root(&self, run: TargetId) -> TargetId {
        let born = self.runs.get(&run).and_then(|log| log.born.as_ref());
        born.map_or(run, |born| born.root)
    }

    /// Whether a step does not ask for the batch of its stage: something outside started its run,
    /// or a run that the stage starts for; or the stage ends without one that asked.
    fn goes_beside(&self, key: StepKey, spot: &Spot) -> bool {
        let here = |run: &RunLog| Some(&run.stage) == spot.stage.as_ref();
        let exempt = |run: &RunLog| run.born.as_ref().is_some_and(|born| born.exempt);
        let gone = |run: &RunLog| run.born.as_ref().is_some_and(|born| born.gone);
        let mut inside = self.runs.iter().filter(|(_, run)| here(run) && !gone(run));
        match key.1 {
            Kind::StageStarted => inside.any(|(target, run)| {
                exempt(run) && !self.status((*target, Kind::SequenceFinished)).is_settled()
            }),
            Kind::StageFinished => !inside.any(|(_, run)| run.definition.is_some() && !exempt(run)),
            _ => self.runs.get(&spot.run).is_some_and(exempt),
        }
    }

    /// Whether a run that works in this name is at it.
    pub(super) fn is_inside(&self, root: TargetId) -> bool {
        self.yard.inside.iter().any(|run| self.root(*run) == root)
    }
}

impl Verifier {
    /// A step of a triggered stage begins: one family works there for a service at a time.
    pub(super) fn enter_family(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        (spot, name, stage): (&Spot, &Name, &Stage),
    ) -> Result<(), Violation> {
        let life = &self.lives[&id];
        let excluding = |batch: &&Batch| batch.policy.excludes();
        let exempt = life.goes_beside(key, spot);
        if let Some(batch) = stage.batch.as_ref().filter(excluding).filter(|_| !exempt) {
            let stage = Key::Stage(name.clone());
            self.permits.join(stage, ((id, None), key.0), batch.capacity)?;
        }
        if matches!(key.1, Kind::StageStarted | Kind::StageFinished) {
            return Ok(());
        }
        let holder = (id, Some(life.root(spot.run)));
        let service = Key::Service(name.clone(), life.service.clone());
        self.permits.join(service, (holder, key.0), 1)?;
        let life = self.lives.get_mut(&id).expect("the caller found it");
        life.yard.inside.insert(spot.run);
        let life = &self.lives[&id];
        let run = life.runs.get(&spot.run);
        let number = self.task_number(life, spot);
        let definition = run.and_then(|run| self.definition(run));
        let (Some(definition), Some(number), Some(run)) = (definition, number, run) else {
            return Ok(());
        };
        if let Some(range) = &definition.range
            && range.batch.policy.excludes()
            && (range.first as usize..=range.last as usize).contains(&number)
        {
            let key = Key::Range(name.clone(), run.sequence.clone());
            self.permits.join(key, (holder, spot.run), range.batch.capacity)?;
        }
        if definition.tasks[number].name.as_str() == APPROVAL
            && !self.permits.keeps_range(holder, spot.run)
        {
            // Others may work while it waits for a person.
            let life = self.lives.get_mut(&id).expect("the caller found it");
            life.yard.inside.remove(&spot.run);
        }
        Ok(())
    }

    /// Families of which no run works any more: all have ended, or are to line up again, and
    /// nothing that a failure triggers in the same stage is still to come.
    pub(super) fn ended_families(
        &mut self,
        id: DeploymentId,
        stage: TargetId,
    ) -> BTreeSet<TargetId> {
        let life = &self.lives[&id];
        let end = life.status((stage, Kind::StageFinished));
        let over = end.is_settled() && *end != Status::Failed;
        let inside = life.runs.keys().filter(|run| self.paths.table.get(**run).parent == stage);
        let runs: Vec<TargetId> = inside.copied().collect();
        let Some(name) = self.paths.spot(stage).stage.clone() else { return BTreeSet::new() };
        let heirs = life.yard.due.iter().filter(|(_, (stage, _, _))| *stage == name);
        let failures = heirs.filter_map(|(at, _)| life.yard.happened.get(at));
        let failures = failures.filter(|it| it.outcome == Outcome::Fail);
        let expecting: BTreeSet<TargetId> = failures.filter_map(|it| it.run).collect();
        let at_rest = |run: &&TargetId| {
            let finished = life.status((**run, Kind::SequenceFinished)).is_settled();
            let busy = life.is_flying(|target| self.paths.run_above(target) == Some(**run));
            (finished || over) && !busy && (over || !expecting.contains(*run))
        };
        let resting: Vec<TargetId> = runs.iter().filter(at_rest).copied().collect();
        let life = self.lives.get_mut(&id).expect("the caller found it");
        resting.iter().for_each(|run| {
            life.yard.inside.remove(run);
        });
        self.permits.release(|key, (holder, _), at| {
            matches!(key, Key::Range(..)) && *holder == id && resting.contains(&at)
        });
        let life = &self.lives[&id];
        let roots: BTreeSet<TargetId> = runs.iter().map(|run| life.root(*run)).collect();
        roots.into_iter().filter(|root| !life.is_inside(*root)).collect()
    }

    /// A paused run lines up again, once nothing of it is in flight, unless it keeps a range.
    pub(super) fn step_aside(&mut self, id: DeploymentId) {
        let life = &self.lives[&id];
        if life.course != Course::Paused {
            return;
        }
        let idle = life.yard.inside.iter().filter(|run| {
            let flying = life.is_flying(|target| self.paths.run_above(target) == Some(**run));
            !flying && !self.permits.keeps_range((id, Some(life.root(**run))), **run)
        });
        let idle: Vec<TargetId> = idle.copied().collect();
        let life = self.lives.get_mut(&id).expect("the caller found it");
        life.yard.inside.retain(|run| !idle.contains(run));
        let life = &self.lives[&id];
        let outside = |run: &TargetId| {
            life.runs.get(run).is_some_and(|log| log.born.is_some()) && !life.is_inside(*run)
        };
        self.permits.release(|key, (holder, run), _| {
            matches!(key, Key::Service(..)) && *holder == id && run.as_ref().is_some_and(outside)
        });
    }

    pub(super) fn is_yard(&self, stage: Option<&Name>) -> bool {
        let stage = stage.and_then(|stage| self.stage(stage));
        stage.is_some_and(|stage| stage.entry == Entry::Triggered)
    }
}
