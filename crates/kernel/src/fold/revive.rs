use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{Attempt, Fact, Kind, Level, Name, Seq, TargetId, TargetTable, Timestamp};

use super::apply::IllegalRecord;
use super::order::{Order, run_above, stage_above};
use super::trigger::{is_trigger, received};
use crate::Kernel;
use crate::flow::Flow;
use crate::record::{Actor, Detail, Reason, Record};
use crate::state::{
    Cause, Cell, Course, Deployment, Ground, Happened, Origin, RunKey, Stage, Status, StepKey,
    Tries, World,
};
use crate::structure::{On, Sequence, Task, Trigger};

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
struct Past<'a> {
    kernel: &'a Kernel,
    cells: BTreeMap<StepKey, Cell>,
    pins: BTreeMap<TargetId, u32>,
    runs: BTreeMap<TargetId, PastRun>,
    /// What a join may still ask for.
    causes: BTreeMap<Seq, Cause>,
    /// The runs that ended, and where; events from outside have none.
    ends: BTreeMap<Seq, Option<TargetId>>,
    /// What the executors of a task in flight answered.
    answers: BTreeMap<TargetId, Vec<Box<str>>>,
    /// Tasks that are offered to executors.
    offered: BTreeSet<TargetId>,
    /// How often a task failed and was tried again by itself.
    spent: BTreeMap<TargetId, u32>,
}

/// What a triggered run was about.
struct PastRun {
    origin: Origin,
    since: Seq,
    flow: Flow,
    moved: Timestamp,
    withdrawn: bool,
    exempt: bool,
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
                open_attempt(deployment, key);
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
                open_attempt(deployment, key);
            }
        }
    }

    /// A triggered stage that starts again keeps what was triggered, and the runs that have ended.
    fn stays(&self, from: StepKey, key: StepKey) -> bool {
        let (world, targets) = (&self.kernel.world, &self.kernel.targets);
        let stage = world.stages.find(targets.part(targets.get(from.0).part));
        if from.1 != Kind::StageStarted || !stage.is_some_and(|stage| world.is_triggered(stage)) {
            return false;
        }
        let end = run_above(targets, key.0).map(|run| (run, Kind::SequenceFinished));
        let end = end.and_then(|end| self.cells.get(&end));
        key.1 == Kind::SequenceTriggered || end.is_some_and(|end| end.is_settled())
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

/// The data of the past.
impl Past<'_> {
    fn fold_share(&mut self, record: &Record) {
        if let (Fact::Finished | Fact::Failed, Some(Detail::Answer(text))) =
            (record.fact, record.detail.as_deref())
        {
            let task = self.kernel.targets.get(record.target).parent;
            self.answers.entry(task).or_default().push(text.clone());
        }
    }

    fn fold_trigger(&mut self, deployment: &mut Deployment, record: &Record) {
        let (on, data) = match record.detail.as_deref() {
            Some(Detail::Triggered { on, data }) => (on.clone(), data),
            Some(Detail::Refused { on, .. }) => {
                deployment.refused = record.n;
                self.note_joined(deployment, on, record);
                return;
            }
            Some(Detail::Happened { name, stage, data }) => {
                deployment.events = record.n;
                self.ends.insert(record.seq, None);
                let cause = Cause { open: false, ..received(name, stage.as_ref(), data) };
                if self.kernel.world.is_joined(&cause) {
                    self.causes.insert(record.seq, cause);
                }
                return;
            }
            _ => return,
        };
        let origin = match (record.cause, on) {
            (Some(at), Some(on)) => Origin::Cause { at, on },
            _ => Origin::Command,
        };
        if let Origin::Cause { on, .. } = &origin {
            self.note_joined(deployment, on, record);
        }
        let flow = Flow::new((&**data).into());
        let end = record.cause.and_then(|at| self.ends.get(&at).copied());
        let parent = end.flatten().and_then(|run| self.runs.get(&run));
        let since = parent.map_or(record.seq, |parent| parent.since);
        let here = |run: TargetId| {
            let targets = &self.kernel.targets;
            targets.get(run).parent == targets.get(record.target).parent
        };
        let exempt = match end {
            Some(None) => true,
            Some(Some(run)) => here(run) && parent.is_some_and(|parent| parent.exempt),
            None => false,
        };
        self.enter_stage(deployment, record);
        let past = PastRun { origin, since, flow, moved: record.at, withdrawn: false, exempt };
        self.runs.insert(record.target, past);
    }

    /// A join that fired, or was refused, begins anew.
    fn note_joined(&self, deployment: &mut Deployment, on: &Trigger, record: &Record) {
        if let Some(key) = run_key(&self.kernel.world, &self.kernel.targets, record.target)
            && let On::All(_) = on.on
        {
            deployment.joined.insert((key.stage, key.sequence, on.clone()), record.seq);
        }
    }

    /// A stage that had ended is entered again.
    fn enter_stage(&mut self, deployment: &mut Deployment, record: &Record) {
        let stage = self.kernel.targets.get(record.target).parent;
        let cell = |kind| self.cells.get(&(stage, kind)).copied().unwrap_or_default();
        let ended = cell(Kind::StageFinished).is_settled();
        let markers = [(stage, Kind::StageStarted), (stage, Kind::StageFinished)];
        let pipeline = (TargetTable::ROOT, Kind::PipelineFinished);
        let markers = markers.into_iter().filter(|_| ended).chain([pipeline]);
        for key in markers {
            if let Some(cell) = self.cells.get_mut(&key).filter(|cell| !cell.is_idle()) {
                cell.reopen();
                open_attempt(deployment, key);
            }
        }
    }

    /// The task that a step is: its run, and its position in the definition.
    fn task(&self, (target, kind): StepKey) -> Option<(TargetId, u32)> {
        let targets = &self.kernel.targets;
        if kind != Kind::TaskDone || targets.get(target).level != Level::Task {
            return None;
        }
        let run = targets.get(target).parent;
        let part = targets.part(targets.get(target).part);
        let position = self.definition(run)?.parts().iter().position(|it| it == part)?;
        Some((run, position as u32))
    }

    fn fold_data(&mut self, deployment: &Deployment, record: &Record) {
        let answers = match record.fact {
            Fact::Dispatched | Fact::Finished | Fact::Failed => self.answers.remove(&record.target),
            _ => None,
        };
        let Some((run, task)) = self.task((record.target, record.kind)) else {
            if record.kind == Kind::SequenceFinished {
                self.end_run(deployment, record);
            }
            return;
        };
        let definition = self.definition(run).and_then(|it| it.tasks.get(task as usize)).cloned();
        let Some(definition) = definition else { return };
        let ends = matches!(record.fact, Fact::Finished | Fact::Failed);
        let again = ends && self.backs_off(record, &definition);
        let counts = ends && self.offered.remove(&record.target) && !again;
        if let Some(Detail::Offered { .. }) = record.detail.as_deref() {
            self.offered.insert(record.target);
        }
        let Some(past) = self.runs.get_mut(&run) else { return };
        past.moved = record.at;
        match (record.fact, record.detail.as_deref()) {
            _ if counts => {
                past.flow.add_properties(task, &definition);
                answers.into_iter().flatten().for_each(|text| past.flow.add(task, &text));
            }
            (Fact::Retried, Some(Detail::Edits(text))) => past.flow.edit(task, text),
            _ => {}
        }
    }

    fn end_run(&mut self, deployment: &Deployment, record: &Record) {
        let kernel = self.kernel;
        let last_task = self.last_task(record.target);
        self.ends.insert(record.seq, Some(record.target));
        let Some(past) = self.runs.get_mut(&record.target) else { return };
        past.withdrawn = record.reason() == Some(&Reason::Withdrawn);
        if let (Some(outcome), Some(key)) =
            (record.outcome, run_key(&kernel.world, &kernel.targets, record.target))
        {
            let stage = kernel.world.stages.name(key.stage);
            let data = past.flow.at_end(outcome, kernel.scope(deployment, stage));
            let cause = Cause {
                event: Happened::Finished(key),
                outcome,
                last_task,
                data: data.to_string().into(),
                open: false,
                fired: Default::default(),
                runs: Vec::new(),
            };
            if kernel.world.is_joined(&cause) {
                self.causes.insert(record.seq, cause);
            }
        }
        if record.fact != Fact::Failed {
            past.flow.clear();
        }
    }

    /// What tasks added that are open again counts no longer.
    fn forget_data(&mut self, from: StepKey, itself: bool) {
        let targets = &self.kernel.targets;
        let definition = run_above(targets, from.0).and_then(|run| self.definition(run));
        let order = Order { targets, definition };
        let open = self.cells.keys().filter(|key| {
            let later = order.is_after(from, **key, itself) && !self.stays(from, **key);
            later || (itself && **key == from)
        });
        let tasks: Vec<(TargetId, u32)> = open.filter_map(|key| self.task(*key)).collect();
        for (run, task) in tasks {
            if let Some(past) = self.runs.get_mut(&run) {
                past.flow.forget_from(task);
            }
        }
    }

    /// Whether a task that failed is tried again by itself.
    fn backs_off(&mut self, record: &Record, task: &Task) -> bool {
        let spent = self.spent.get(&record.target).copied().unwrap_or_default();
        let over = record.reason() == Some(&Reason::RunTimedOut);
        let work = task.groups.is_empty();
        let again = record.fact == Fact::Failed && work && !over && spent < task.retries.limit;
        if again {
            self.spent.insert(record.target, spent + 1);
        } else {
            self.spent.remove(&record.target);
        }
        again
    }

    /// The task of a run that ran last.
    fn last_task(&self, run: TargetId) -> Option<Name> {
        let ran = self.cells.iter().filter(|(_, cell)| cell.is_finished() || cell.has_failed());
        let tasks = ran.filter_map(|(key, _)| self.task(*key)).filter(|(it, _)| *it == run);
        let (_, last) = tasks.max_by_key(|(_, task)| *task)?;
        self.definition(run)?.tasks.get(last as usize).map(|task| task.name.clone())
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

pub(super) fn run_key(world: &World, targets: &TargetTable, run: TargetId) -> Option<RunKey> {
    let node = targets.get(run);
    let stage = world.stages.find(targets.part(targets.get(node.parent).part))?;
    let (sequence, number) = targets.part(node.part).split_once('#')?;
    let sequence = world.sequences.find(sequence)?;
    Some(RunKey { stage, sequence, number: number.parse().ok()? })
}
