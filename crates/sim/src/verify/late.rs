use seaway_kernel::Slot;
use seaway_model::{DeploymentId, Kind, TargetId};

use super::ledger::{Life, StepKey};
use super::log::Verifier;
use super::violation::{Rule, Violation};

impl Verifier {
    /// Whether the step's slot was introduced after the deployment started, or after what led to
    /// its run in a triggered stage.
    pub(super) fn is_younger(&mut self, id: DeploymentId, key: StepKey) -> bool {
        let spot = self.paths.spot(key.0);
        let life = &self.lives[&id];
        let slot = self.slot(life, &spot, key.1);
        let born = life.runs.get(&spot.run).and_then(|run| run.born.as_ref());
        let began = born.map_or(life.started, |born| born.since);
        let since = slot.and_then(|slot| self.introduced.get(&slot));
        since.is_some_and(|since| *since > began)
    }

    /// A deployment that passed one place without a step that was introduced meanwhile does the
    /// step nowhere.
    pub(super) fn check_late(&mut self, id: DeploymentId, key: StepKey) -> Result<(), Violation> {
        if self.lives[&id].tried(key) || !self.is_younger(id, key) {
            return Ok(());
        }
        let spot = self.paths.spot(key.0);
        let life = &self.lives[&id];
        let Some(slot) = self.slot(life, &spot, key.1) else { return Ok(()) };
        let passed = life.runs.keys().find_map(|run| self.passed_without(life, *run, &slot));
        match passed {
            Some(place) => {
                let detail = format!("{} was passed without it", self.paths.text(place));
                Err(Violation::new(Rule::IntroducedLate, detail))
            }
            None => Ok(()),
        }
    }

    /// A place in a run where the slot was left out and what comes right after it is complete.
    fn passed_without(&self, life: &Life, run: TargetId, slot: &Slot) -> Option<TargetId> {
        let log = &life.runs[&run];
        let stage = self.structure.stages.get(&log.stage)?;
        let definition = self.definition(log)?;
        let tasks = self.tasks(run, &definition);
        let left_out = |target: TargetId, kind: Kind| {
            let key = (target, kind);
            life.status(key).is_left_out() && !life.tried(key)
        };
        if let Slot::Task(..) = slot {
            let slots = definition.slots(&log.sequence);
            let number = slots.iter().position(|it| it == slot)?;
            let target = tasks[number]?;
            let next = match tasks.get(number + 1) {
                None => life.status((run, Kind::SequenceFinished)).is_complete(),
                Some(next) => {
                    let groups = &definition.tasks[number + 1].groups;
                    let there = groups.iter().filter(|group| stage.groups.contains_key(*group));
                    let mut starts = there.filter_map(|group| {
                        next.and_then(|next| self.paths.child(next, group.as_str()))
                    });
                    let alone = groups.iter().all(|group| !stage.groups.contains_key(group));
                    starts.any(|it| life.status((it, Kind::GroupStarted)).is_complete())
                        || (alone && self.status_of(life, *next, Kind::TaskDone).is_complete())
                }
            };
            return (left_out(target, Kind::TaskDone) && next).then_some(target);
        }
        let Slot::Kind(kind) = slot else { return None };
        for (task, target) in definition.tasks.iter().zip(tasks) {
            for name in &task.groups {
                let Some(group) = stage.groups.get(name) else { continue };
                let Some(link) = group.chain.iter().position(|it| it == kind) else { continue };
                let place = target.and_then(|target| self.paths.child(target, name.as_str()));
                let Some(place) = place else { continue };
                for member in group.members.iter() {
                    let there = self.paths.child(place, member.as_str());
                    let Some(there) = there.filter(|it| left_out(*it, *kind)) else { continue };
                    let next = match group.chain.get(link + 1) {
                        Some(next) => life.status((there, *next)),
                        None => life.status((place, Kind::GroupFinished)),
                    };
                    if next.is_complete() {
                        return Some(there);
                    }
                }
            }
        }
        None
    }
}
