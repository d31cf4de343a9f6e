use std::sync::Arc;

use seaway_kernel::{Sequence, Slot, Stage, Structure};
use seaway_model::{DeploymentId, Kind, Name, Seq, TargetId};

use super::introduced::introduced;
use super::ledger::{Life, RunLog, Status, StepKey};
use super::log::Verifier;
use super::paths::Spot;

impl Verifier {
    /// The structure changes: new slots are introduced, members that left give their permits back.
    pub(super) fn restructure(&mut self, structure: Structure, seq: Seq) {
        if !self.structure.stages.is_empty() {
            let fresh = introduced(&self.structure, &structure);
            self.introduced.extend(fresh.into_iter().map(|slot| (slot, seq)));
        }
        let before = std::mem::replace(&mut self.structure, structure);
        for (name, stage) in &before.stages {
            if !self.structure.stages.contains_key(name) {
                self.departed.insert(name.clone(), stage.clone());
            }
        }
        self.withdraw(seq);
        let ids: Vec<DeploymentId> = self.lives.keys().copied().collect();
        for id in ids {
            self.release_departed(id);
            self.permits.release_paused(id, &self.lives[&id], &mut self.paths);
        }
        self.include_those_inside(&before);
    }

    /// A stage as it is now, or as it was when it left.
    pub(super) fn stage(&self, name: &Name) -> Option<&Arc<Stage>> {
        self.structure.stages.get(name).or_else(|| self.departed.get(name))
    }

    /// The definition of a run: its own once it has begun, else the one of now.
    pub(super) fn definition(&self, run: &RunLog) -> Option<Arc<Sequence>> {
        let now = || self.stage(&run.stage)?.sequences.get(&run.sequence).cloned();
        run.definition.clone().or_else(now)
    }

    /// Whether the structure has the step now. Steps outside of groups are always there.
    pub(super) fn is_laid_out(&self, spot: &Spot, kind: Kind) -> bool {
        let (Some(stage), Some(group)) = (&spot.stage, &spot.group) else { return true };
        let Some(group) = self.stage(stage).and_then(|stage| stage.groups.get(group)) else {
            return false;
        };
        match &spot.member {
            Some(member) => group.members.contains(member) && group.chain.contains(&kind),
            None => true,
        }
    }

    /// The position of a task in its run's definition.
    pub(super) fn task_number(&self, life: &Life, spot: &Spot) -> Option<usize> {
        let definition = self.definition(life.runs.get(&spot.run)?)?;
        let task = spot.task.as_deref()?;
        definition.parts().iter().position(|part| part == task)
    }

    /// The targets of a run's tasks, in order. A task without a target has no records.
    pub(super) fn tasks(&self, run: TargetId, definition: &Sequence) -> Vec<Option<TargetId>> {
        definition.parts().iter().map(|part| self.paths.child(run, part)).collect()
    }

    /// What a step is in the definition, across runs and members.
    pub(super) fn slot(&self, life: &Life, spot: &Spot, kind: Kind) -> Option<Slot> {
        if spot.group.is_some() {
            return Some(Slot::Kind(kind));
        }
        let number = self.task_number(life, spot)?;
        let run = life.runs.get(&spot.run)?;
        self.definition(run)?.slots(&run.sequence).into_iter().nth(number)
    }

    /// Whether a member that a deployment was at has nothing in flight any more and is gone.
    pub(super) fn has_left(&mut self, id: DeploymentId, target: TargetId) -> bool {
        let spot = self.paths.spot(target);
        let here = |it: TargetId| it == target;
        !self.is_laid_out(&spot, Kind::MemberStarted) && !self.lives[&id].is_flying(here)
    }

    pub(super) fn status_of(&self, life: &Life, target: Option<TargetId>, kind: Kind) -> Status {
        target.map_or(Status::Open, |target| life.status((target, kind)).clone())
    }

    /// All steps of a deployment that lie in a run.
    pub(super) fn steps_in(&mut self, id: DeploymentId, run: TargetId) -> Vec<StepKey> {
        let keys: Vec<StepKey> = self.lives[&id].steps.keys().copied().collect();
        keys.into_iter().filter(|(target, _)| self.paths.spot(*target).run == run).collect()
    }
}
