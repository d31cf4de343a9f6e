use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{Attempt, Fact, Kind, Level, Seq, TargetId, TargetTable, Timestamp};

use super::apply::IllegalRecord;
use super::order::{Order, run_above, stage_above};
use super::trigger::is_trigger;
use crate::Kernel;
use crate::flow::Flow;
use crate::record::{Actor, Detail, Reason, Record};
use crate::state::{
    Cause, Cell, Course, Deployment, Ground, Origin, RunKey, Stage, Status, StepKey, Tries, World,
};
use crate::structure::Sequence;

impl Kernel {
    /// Brings back a deployment that left memory, from all its records in order. It comes back as
    /// it was when it ended; commands then find out what can still be done with it.
    pub fn revive(&mut self, records: &[Record]) -> Result<(), IllegalRecord> {
        let Some((first, rest)) = records.split_first() else { return Ok(()) };
        if first.kind != Kind::PipelineStarted {
            return Err(IllegalRecord::Incomplete { seq: first.seq });
        }
        let mut deployment = self.new_deployment(first)?;
        let mut past = Past {
            kernel: self,
            cells: BTreeMap::new(),
            pins: BTreeMap::new(),
            runs: BTreeMap::new(),
            answers: BTreeMap::new(),
            causes: BTreeMap::new(),
            ends: BTreeMap::new(),
            offered: BTreeSet::new(),
            spent: BTreeMap::new(),
        };
        for record in rest {
            past.check(record)?;
            past.fold(&mut deployment, record)?;
        }
        let Past { cells, pins, runs, causes, .. } = past;
        deployment.attic = cells;
        deployment.causes = causes;
        self.settle_in(&mut deployment, &pins, runs);
        deployment.prune_causes(&self.world);
        let (id, rank) = (deployment.id, deployment.rank());
        self.by_start.insert(deployment.started, id);
        self.deployments.insert(id, deployment);
        self.active.insert(rank);
        self.revived.push(id);
        Ok(())
    }

    /// Gives a revived deployment its stages and runs, as the structure has them now.
    fn settle_in(
        &mut self,
        deployment: &mut Deployment,
        pins: &BTreeMap<TargetId, u32>,
        mut past: BTreeMap<TargetId, PastRun>,
    ) {
        let (world, targets, seq) = (&self.world, &mut self.targets, self.head);
        let root = (TargetTable::ROOT, Kind::PipelineFinished);
        deployment.finish = deployment.attic.remove(&root).unwrap_or_default();
        let seen: Vec<StepKey> = deployment.attic.keys().copied().collect();
        for (target, kind) in &seen {
            let node = targets.get(*target);
            let Some(number) = world.stages.find(targets.part(node.part)) else { continue };
            if node.level == Level::Stage {
                let cell = deployment.attic.remove(&(*target, *kind)).unwrap_or_default();
                let stage = deployment.stages.entry(number);
                let stage = stage.or_insert_with(|| Stage { target: *target, ..Stage::default() });
                match kind {
                    Kind::StageStarted => stage.started = cell,
                    _ => stage.finish = cell,
                }
            }
        }
        let mut runs: Vec<TargetId> =
            seen.iter().filter_map(|(target, _)| run_above(targets, *target)).collect();
        runs.sort_unstable();
        runs.dedup();
        let keys: Vec<(TargetId, RunKey)> =
            runs.into_iter().filter_map(|run| Some((run, run_key(world, targets, run)?))).collect();
        for (run, key) in &keys {
            deployment.adopt_run(world, *key, *run, pins.get(run).copied());
            if let Some(past) = past.remove(run)
                && let Some(run) = deployment.runs.get_mut(key)
            {
                (run.origin, run.since) = (Some(past.origin), past.since);
                (run.flow, run.moved, run.withdrawn) = (past.flow, past.moved, past.withdrawn);
                run.exempt = past.exempt;
            }
        }
        let left: Vec<u32> = world.departed.keys().copied().collect();
        let left: Vec<u32> =
            left.into_iter().filter(|stage| world.stage(*stage).is_none()).collect();
        deployment.keep_ghosts(world, &left, targets);
        for (_, key) in keys {
            if deployment.runs.contains_key(&key) {
                deployment.reshape(world, key, seq, targets);
            }
        }
        deployment.walk(&mut Ground { world, targets, seq });
    }
}

/// The statuses that the records of one deployment add up to.
pub(super) struct Past<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) cells: BTreeMap<StepKey, Cell>,
    pub(super) pins: BTreeMap<TargetId, u32>,
    pub(super) runs: BTreeMap<TargetId, PastRun>,
    /// What a join may still ask for.
    pub(super) causes: BTreeMap<Seq, Cause>,
    /// The runs that ended, and where; events from outside have none.
    pub(super) ends: BTreeMap<Seq, Option<TargetId>>,
    /// What the executors of a task in flight answered.
    pub(super) answers: BTreeMap<TargetId, Vec<Box<str>>>,
    /// Tasks that are offered to executors.
    pub(super) offered: BTreeSet<TargetId>,
    /// How often a task failed and was tried again by itself.
    pub(super) spent: BTreeMap<TargetId, u32>,
}

/// What a triggered run was about.
pub(super) struct PastRun {
    pub(super) origin: Origin,
    pub(super) since: Seq,
    pub(super) flow: Flow,
    pub(super) moved: Timestamp,
    pub(super) withdrawn: bool,
    pub(super) exempt: bool,
}

impl Past<'_> {
    /// Records from before a checkpoint were never folded by this kernel: they may name what does
    /// not exist.
    fn check(&self, record: &Record) -> Result<(), IllegalRecord> {
        let pinned = match record.detail.as_deref() {
            Some(Detail::Pins { definition }) => *definition as usize,
            _ => 0,
        };
        let known = self.kernel.targets.try_get(record.target).is_some();
        let defined = pinned < self.kernel.world.definitions.len().max(1);
        let fits = known && defined && record.seq <= self.kernel.head;
        fits.then_some(()).ok_or(IllegalRecord::UnknownStep { seq: record.seq })
    }

    fn fold(&mut self, deployment: &mut Deployment, record: &Record) -> Result<(), IllegalRecord> {
        let key = (record.target, record.kind);
        let incomplete = || IllegalRecord::Incomplete { seq: record.seq };
        if self.kernel.targets.get(record.target).level == Level::Executor {
            self.fold_share(record);
            return Ok(());
        }
        if record.kind == Kind::Event || is_trigger(record) {
            self.fold_trigger(deployment, record);
            if record.kind == Kind::Event || record.fact != Fact::Finished {
                return Ok(());
            }
        }
        if record.kind == Kind::SequenceTriggered
            && let Some(run) = run_key(&self.kernel.world, &self.kernel.targets, record.target)
        {
            deployment.note_number(run);
        }
        self.fold_data(deployment, record);
        if record.attempt > Attempt(1) {
            let tries = deployment.tries.entry(key).or_default();
            if record.attempt > tries.attempt {
                *tries = Tries { attempt: record.attempt, ..Tries::default() };
            }
        }
        if let Some(Detail::Pins { definition }) = record.detail.as_deref()
            && let Some(run) = run_above(&self.kernel.targets, record.target)
        {
            self.pins.insert(run, *definition);
        }
        let status = match record.fact {
            Fact::Dispatched => Status::InFlight,
            Fact::Finished | Fact::Failed => Status::ended(record.outcome.ok_or_else(incomplete)?),
            Fact::Superseded => Status::Superseded,
            Fact::Skipped => {
                let reason = record.reason().ok_or_else(incomplete)?;
                if let Reason::Person(_) = reason {
                    self.reopen(deployment, key, false);
                }
                Status::skipped(reason)
            }
            Fact::Cancelled if record.reason() == Some(&Reason::Orphaned) => {
                self.cells.entry(key).or_default().forget();
                deployment.open_attempt(key);
                return Ok(());
            }
            Fact::Cancelled => Status::Cancelled,
            Fact::Retried => {
                let by_itself = record.by == Actor::Seaway && self.spent.contains_key(&key.0);
                let spent = self.spent.get(&key.0).copied();
                self.reopen(deployment, key, true);
                self.spent.extend(spent.filter(|_| by_itself).map(|spent| (key.0, spent)));
                return Ok(());
            }
            fact => {
                note(deployment, record, fact);
                return Ok(());
            }
        };
        self.cells.entry(key).or_default().set(status);
        Ok(())
    }

    /// The same as a retry does to cells, by targets alone.
    fn reopen(&mut self, deployment: &mut Deployment, from: StepKey, itself: bool) {
        let targets = &self.kernel.targets;
        let stage = stage_above(targets, from.0);
        let definition = run_above(targets, from.0).and_then(|run| self.definition(run));
        let order = Order { targets, definition };
        let after: Vec<StepKey> = self
            .cells
            .iter()
            .filter(|(_, cell)| !cell.is_idle() && !cell.in_flight())
            .map(|(key, _)| *key)
            .filter(|key| {
                let end = (key.0 == TargetTable::ROOT && key.1 == Kind::PipelineFinished)
                    || (Some(key.0) == stage && key.1 == Kind::StageFinished);
                let later = order.is_after(from, *key, itself) && !self.stays(from, *key);
                (itself && *key == from) || end || later
            })
            .collect();
        self.forget_data(from, itself);
        for key in after {
            self.spent.remove(&key.0);
            self.cells.entry(key).or_default().reopen();
            if key != from {
                deployment.open_attempt(key);
            }
        }
    }

    /// A triggered stage that starts again keeps what was triggered, and the runs that have ended.
    pub(super) fn stays(&self, from: StepKey, key: StepKey) -> bool {
        let (world, targets) = (&self.kernel.world, &self.kernel.targets);
        let stage = world.stages.find(targets.part(targets.get(from.0).part));
        if from.1 != Kind::StageStarted || !stage.is_some_and(|stage| world.is_triggered(stage)) {
            return false;
        }
        let end = run_above(targets, key.0).map(|run| (run, Kind::SequenceFinished));
        let end = end.and_then(|end| self.cells.get(&end));
        key.1 == Kind::SequenceTriggered || end.is_some_and(|end| end.is_settled())
    }

    pub(super) fn definition(&self, run: TargetId) -> Option<&Sequence> {
        let world = &self.kernel.world;
        let current = || {
            let key = run_key(world, &self.kernel.targets, run)?;
            world.current.get(&(key.stage, key.sequence)).copied()
        };
        let number = self.pins.get(&run).copied().or_else(current)?;
        world.definitions.get(number as usize).map(|definition| &**definition)
    }
}

fn note(deployment: &mut Deployment, record: &Record, fact: Fact) {
    let (by, since) = (record.by.clone(), record.at);
    match fact {
        Fact::Paused => {
            deployment.pauses = record.n;
            deployment.course = Course::Paused { by, since };
        }
        Fact::Resumed => deployment.course = Course::Running,
        Fact::Aborted => deployment.course = Course::Aborting { by, since },
        Fact::Claimed => {
            deployment.tries.entry((record.target, record.kind)).or_default().leases = record.n;
        }
        Fact::Started => {
            let tries = deployment.tries.entry((record.target, record.kind)).or_default();
            tries.started = Some(record.fence());
        }
        Fact::Changed => {
            deployment.tries.entry((record.target, record.kind)).or_default().changes = record.n;
        }
        _ => {}
    }
}

pub(super) fn run_key(world: &World, targets: &TargetTable, run: TargetId) -> Option<RunKey> {
    let node = targets.get(run);
    let stage = world.stages.find(targets.part(targets.get(node.parent).part))?;
    let (sequence, number) = targets.part(node.part).split_once('#')?;
    let sequence = world.sequences.find(sequence)?;
    Some(RunKey { stage, sequence, number: number.parse().ok()? })
}
