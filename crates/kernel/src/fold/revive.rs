use std::collections::BTreeMap;

use seaway_model::{Attempt, Fact, Kind, Level, TargetId, TargetTable};

use super::apply::IllegalRecord;
use super::order::{Order, run_above, stage_above};
use crate::Kernel;
use crate::record::{Detail, Reason, Record};
use crate::state::{
    Cell, Course, Deployment, Ground, RunKey, Stage, Status, StepKey, Tries, World,
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
        let mut past = Past { kernel: self, cells: BTreeMap::new(), pins: BTreeMap::new() };
        for record in rest {
            past.check(record)?;
            past.fold(&mut deployment, record)?;
        }
        let Past { cells, pins, .. } = past;
        deployment.attic = cells;
        self.settle_in(&mut deployment, &pins);
        let (id, rank) = (deployment.id, deployment.rank());
        self.by_start.insert(deployment.started, id);
        self.deployments.insert(id, deployment);
        self.active.insert(rank);
        self.revived.push(id);
        Ok(())
    }

    /// Gives a revived deployment its stages and runs, as the structure has them now.
    fn settle_in(&mut self, deployment: &mut Deployment, pins: &BTreeMap<TargetId, u32>) {
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
        }
        let left: Vec<u32> = world.departed.keys().copied().collect();
        let left: Vec<u32> =
            left.into_iter().filter(|stage| world.stage(*stage).is_none()).collect();
        deployment.keep_ghosts(world, &left);
        for (_, key) in keys {
            if deployment.runs.contains_key(&key) {
                deployment.reshape(world, key, seq, targets);
            }
        }
        deployment.walk(&mut Ground { world, targets, seq });
    }
}

/// The statuses that the records of one deployment add up to.
struct Past<'a> {
    kernel: &'a Kernel,
    cells: BTreeMap<StepKey, Cell>,
    pins: BTreeMap<TargetId, u32>,
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
                open_attempt(deployment, key);
                return Ok(());
            }
            Fact::Cancelled => Status::Cancelled,
            Fact::Retried => {
                self.reopen(deployment, key, true);
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
                (itself && *key == from) || end || order.is_after(from, *key, itself)
            })
            .collect();
        for key in after {
            self.cells.entry(key).or_default().reopen();
            if key != from {
                open_attempt(deployment, key);
            }
        }
    }

    fn definition(&self, run: TargetId) -> Option<&Sequence> {
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

fn open_attempt(deployment: &mut Deployment, key: StepKey) {
    let tries = deployment.tries.entry(key).or_default();
    *tries = tries.next_attempt();
}

fn run_key(world: &World, targets: &TargetTable, run: TargetId) -> Option<RunKey> {
    let node = targets.get(run);
    let stage = world.stages.find(targets.part(targets.get(node.parent).part))?;
    let (sequence, number) = targets.part(node.part).split_once('#')?;
    let sequence = world.sequences.find(sequence)?;
    Some(RunKey { stage, sequence, number: number.parse().ok()? })
}
