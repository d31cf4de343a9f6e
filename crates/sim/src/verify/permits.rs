use std::collections::{BTreeMap, BTreeSet};

use seaway_kernel::{Batch, Entry, Stage, Structure};
use seaway_model::{DeploymentId, Kind, Name, TargetId, TargetTable};

use super::ledger::{Course, Life, StepKey};
use super::log::Verifier;
use super::paths::{Paths, Spot};
use super::violation::{Rule, Violation};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Stage(Name),
    Range(Name, Name),
    Service(Name, Name),
    Member(Name, Name),
}

/// A deployment, and for all but the batch of a stage its run.
pub(super) type Holder = (DeploymentId, Option<TargetId>);

/// Who holds what, worked out from the log. A member's permit is kept with its target, because a
/// member may be in several groups.
#[derive(Debug, Default)]
pub(super) struct Permits {
    held: BTreeMap<Key, Vec<(Holder, TargetId)>>,
}

impl Permits {
    pub(super) fn join(
        &mut self,
        key: Key,
        (holder, at): (Holder, TargetId),
        capacity: u32,
    ) -> Result<(), Violation> {
        let holders = self.held.entry(key.clone()).or_default();
        let mut mine = holders.iter().filter(|(it, _)| *it == holder).peekable();
        let known = mine.peek().is_some();
        match key {
            _ if mine.any(|(_, place)| *place == at) => return Ok(()),
            Key::Stage(_) | Key::Service(..) if known => return Ok(()),
            // Those who work in one name keep it each for themselves.
            Key::Range(..) if known => {}
            _ => {
                let names: BTreeSet<Holder> = holders.iter().map(|(it, _)| *it).collect();
                if names.len() >= capacity as usize {
                    let detail =
                        format!("{key:?} has room for {capacity}, and {holders:?} are inside");
                    return Err(Violation::new(Rule::Permit, detail));
                }
            }
        }
        holders.push((holder, at));
        Ok(())
    }

    /// A run keeps the ranges of the run whose failure triggered it.
    pub(super) fn inherit(&mut self, holder: Holder, (parent, heir): (TargetId, TargetId)) {
        let ranges = self.held.iter_mut().filter(|(key, _)| matches!(key, Key::Range(..)));
        for holders in ranges.map(|(_, holders)| holders) {
            if holders.contains(&(holder, parent)) {
                holders.push((holder, heir));
            }
        }
    }

    pub(super) fn release(&mut self, mut gone: impl FnMut(&Key, &Holder, TargetId) -> bool) {
        self.held.retain(|key, holders| {
            holders.retain(|(holder, at)| !gone(key, holder, *at));
            !holders.is_empty()
        });
    }

    /// Whether a run keeps a range, which others can only get at with the service.
    pub(super) fn keeps_range(&self, holder: Holder, run: TargetId) -> bool {
        let ranges = self.held.iter().filter(|(key, _)| matches!(key, Key::Range(..)));
        ranges.flat_map(|(_, holders)| holders).any(|it| *it == (holder, run))
    }

    fn inner_holders(&self) -> Vec<Holder> {
        let is_inner = |key: &Key| matches!(key, Key::Range(..) | Key::Member(..));
        let inner = self.held.iter().filter(|(key, _)| is_inner(key));
        inner.flat_map(|(_, it)| it).map(|(holder, _)| *holder).collect()
    }

    /// A paused run gives up its service once nothing of it is in flight, unless it keeps a range
    /// or a member, which others can only get at with the service.
    pub(super) fn release_paused(&mut self, id: DeploymentId, life: &Life, paths: &mut Paths) {
        if life.course != Course::Paused {
            return;
        }
        let inner = self.inner_holders();
        let idle = |run: TargetId, paths: &mut Paths| {
            let flying = life.steps.iter().filter(|(_, it)| it.status == super::Status::Flying);
            let mut targets = flying.map(|((target, _), _)| *target);
            !targets.any(|target| life.root(paths.spot(target).run) == run)
        };
        self.release(|key, holder, _| match (key, holder) {
            (Key::Service(..), (deployment, Some(run))) => {
                *deployment == id && !inner.contains(holder) && idle(*run, paths)
            }
            _ => false,
        });
    }
}

impl Verifier {
    /// A batch that is put around a stage includes those who are in it, however many they are.
    pub(super) fn include_those_inside(&mut self, before: &Structure) {
        let excludes =
            |stage: &Stage| stage.batch.as_ref().is_some_and(|batch| batch.policy.excludes());
        for (name, stage) in &self.structure.stages {
            let Some(target) = self.paths.child(TargetTable::ROOT, name.as_str()) else { continue };
            let already = before.stages.get(name).is_some_and(|stage| excludes(stage));
            if already || !excludes(stage) {
                continue;
            }
            for (id, life) in &self.lives {
                let ended = life.status((TargetTable::ROOT, Kind::PipelineFinished)).is_settled();
                let started = *life.status((target, Kind::StageStarted)) == super::Status::Passed;
                let inside = started && !life.status((target, Kind::StageFinished)).is_settled();
                if inside && !ended {
                    let key = Key::Stage(name.clone());
                    let joined = self.permits.join(key, ((*id, None), target), u32::MAX);
                    joined.expect("there is room for all who are inside already");
                }
            }
        }
    }

    /// A step begins: it takes its place, and every permit whose range it is in.
    pub(super) fn enter(&mut self, id: DeploymentId, key: StepKey) -> Result<(), Violation> {
        self.arrive(id, key)?;
        let spot = self.paths.spot(key.0);
        let Some(name) = spot.stage.clone() else { return Ok(()) };
        let Some(stage) = self.stage(&name).cloned() else { return Ok(()) };
        if stage.entry == Entry::Triggered {
            return self.enter_family(id, key, (&spot, &name, &stage));
        }
        let excluding = |batch: &&Batch| batch.policy.excludes();
        if let Some(batch) = stage.batch.as_ref().filter(excluding) {
            let stage = Key::Stage(name.clone());
            self.permits.join(stage, ((id, None), key.0), batch.capacity)?;
        }
        let outside = [Kind::StageStarted, Kind::StageFinished, Kind::SequenceTriggered];
        if outside.contains(&key.1) {
            return Ok(());
        }
        let life = &self.lives[&id];
        let (service, holder) = (life.service.clone(), (id, Some(spot.run)));
        self.permits.join(Key::Service(name.clone(), service.clone()), (holder, key.0), 1)?;
        let run = life.runs.get(&spot.run);
        let number = self.task_number(life, &spot);
        let range = run.and_then(|run| self.definition(run)).and_then(|it| it.range.clone());
        if let (Some(range), Some(number), Some(run)) = (range, number, run)
            && range.batch.policy.excludes()
            && (range.first as usize..=range.last as usize).contains(&number)
        {
            let key = Key::Range(name, run.sequence.clone());
            self.permits.join(key, (holder, spot.run), range.batch.capacity)?;
        }
        let group = spot.group.as_ref().and_then(|group| stage.groups.get(group));
        if let (Some(group), Some(member)) = (group, &spot.member)
            && group.chain.first() == Some(&Kind::MemberStarted)
        {
            let member = Key::Member(member.clone(), service);
            self.permits.join(member, (holder, key.0), 1)?;
        }
        Ok(())
    }

    /// Gives back what the end of a step frees.
    pub(super) fn release_after(&mut self, id: DeploymentId, key: StepKey) {
        let spot = self.paths.spot(key.0);
        let life = &self.lives[&id];
        let status = life.status(key).clone();
        match key.1 {
            Kind::PipelineFinished if status.is_settled() => {
                self.permits.release(|_, (holder, _), _| *holder == id);
            }
            Kind::TaskDone if status.is_complete() => {
                let definition = life.runs.get(&spot.run).and_then(|run| self.definition(run));
                let last = definition.and_then(|it| Some(it.range.as_ref()?.last as usize));
                if last.is_some() && last == self.task_number(life, &spot) {
                    let holder = (id, Some(life.root(spot.run)));
                    let mine = |key: &Key| match key {
                        Key::Range(_, sequence) => Some(sequence) == spot.sequence.as_ref(),
                        _ => false,
                    };
                    let run = spot.run;
                    self.permits.release(|key, it, at| mine(key) && (*it, at) == (holder, run));
                }
            }
            _ if spot.member.is_some() && self.is_chain_over(id, &spot, key.0) => {
                self.release_member(id, key.0);
            }
            _ => {}
        }
        if key.0 != TargetTable::ROOT {
            self.release_ended(id, spot.stage_target);
            if self.is_yard(spot.stage.as_ref()) {
                self.step_aside(id);
            }
            self.permits.release_paused(id, &self.lives[&id], &mut self.paths);
        }
    }

    /// A run that has ended, by itself or with its stage, and has nothing in flight gives
    /// everything back; so does its stage, once nothing of it is in flight.
    fn release_ended(&mut self, id: DeploymentId, stage: TargetId) {
        let life = &self.lives[&id];
        let end = life.status((stage, Kind::StageFinished));
        let over = end.is_settled() && *end != super::Status::Failed;
        let inside = life.runs.keys().filter(|run| self.paths.table.get(**run).parent == stage);
        let runs: Vec<TargetId> = inside.copied().collect();
        let flying = life.steps.iter().filter(|(_, it)| it.status == super::Status::Flying);
        let busy: Vec<TargetId> =
            flying.map(|((target, _), _)| self.paths.spot(*target).run).collect();
        let stage_ended = end.is_settled() && !runs.iter().any(|run| busy.contains(run));
        let name = self.paths.spot(stage).stage.clone();
        let yard = self.is_yard(name.as_ref());
        let families = match yard {
            true => self.ended_families(id, stage),
            false => Default::default(),
        };
        let life = &self.lives[&id];
        let ended = |run: &TargetId| {
            let finished = life.status((*run, Kind::SequenceFinished)).is_settled();
            let over = runs.contains(run) && (finished || over) && !busy.contains(run);
            over && life.runs[run].born.is_none() || families.contains(run)
        };
        self.permits.release(|key, (holder, run), _| match (key, run) {
            (Key::Stage(it), None) => *holder == id && stage_ended && Some(it) == name.as_ref(),
            // The runs of a family give their ranges back one by one.
            (Key::Range(..), Some(_)) if yard => false,
            (_, Some(run)) => *holder == id && ended(run),
            _ => false,
        });
    }

    /// Through or failed, and nothing of it in flight.
    fn is_chain_over(&self, id: DeploymentId, spot: &Spot, member: TargetId) -> bool {
        let life = &self.lives[&id];
        let steps = life.steps.iter().filter(|((target, _), _)| *target == member);
        let failed = steps.clone().any(|((_, kind), step)| {
            step.status == super::Status::Failed && self.is_laid_out(spot, *kind)
        });
        let through = life.status((member, Kind::MemberFinished)).is_complete();
        (failed || through) && !life.is_flying(|target| target == member)
    }

    pub(super) fn release_member(&mut self, id: DeploymentId, member: TargetId) {
        self.permits.release(|key, (holder, _), at| {
            matches!(key, Key::Member(..)) && *holder == id && at == member
        });
    }

    /// Members that left are given back once nothing of them is in flight.
    pub(super) fn release_departed(&mut self, id: DeploymentId) {
        let mut members = Vec::new();
        for (key, holders) in &self.permits.held {
            let mine = holders.iter().filter(|((holder, _), _)| *holder == id);
            if let Key::Member(..) = key {
                members.extend(mine.map(|(_, at)| *at));
            }
        }
        for member in members {
            if self.has_left(id, member) {
                self.release_member(id, member);
            }
        }
    }
}
