use seaway_model::{Fact, Kind, Level, Name, TargetId, TargetTable};

use super::order::{Order, run_above};
use super::revive::{Past, PastRun, run_key};
use super::trigger::received;
use crate::flow::Flow;
use crate::record::{Detail, Reason, Record};
use crate::state::{Cause, Deployment, Happened, Origin, StepKey};
use crate::structure::{On, Task, Trigger};

/// What the past was about: what was triggered, and the data of its runs.
impl Past<'_> {
    pub(super) fn fold_share(&mut self, record: &Record) {
        if let (Fact::Finished | Fact::Failed, Some(Detail::Answer(text))) =
            (record.fact, record.detail.as_deref())
        {
            let task = self.kernel.targets.get(record.target).parent;
            self.answers.entry(task).or_default().push(text.clone());
        }
    }

    pub(super) fn fold_trigger(&mut self, deployment: &mut Deployment, record: &Record) {
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
                deployment.open_attempt(key);
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

    pub(super) fn fold_data(&mut self, deployment: &Deployment, record: &Record) {
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
    pub(super) fn forget_data(&mut self, from: StepKey, itself: bool) {
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
