use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Kind, TargetTable};

use super::locate::name_spot;
use super::order::Order;
use crate::Kernel;
use crate::record::{Actor, Detail, Record};
use crate::state::{
    Alarm, Cell, Ground, Position, Role, Run, RunKey, Shape, Spot, StepKey, Tries, key_of,
};

impl Kernel {
    /// Opens the next attempt of a step and of everything after it: in its run, or in its stage
    /// when the stage starts again.
    pub(super) fn reopen(&mut self, id: DeploymentId, spot: Spot, record: &Record) {
        let deployment = &self.deployments[&id];
        // What is tried again by itself goes on counting; a person gives it all its tries again.
        let by_itself = deployment.cell(spot).backs_off() && record.by == Actor::Seaway;
        let spent = deployment.tries((record.target, record.kind)).spent;
        let spent = if by_itself { spent } else { 0 };
        self.reopen_from(id, spot);
        // The step itself may have been open already, when something before it was retried.
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let tries = deployment.tries.entry((record.target, record.kind)).or_default();
        *tries = Tries { attempt: record.attempt, spent, ..Tries::default() };
        self.edit_data(id, spot, record);
        self.restart_clock(id, spot, record.at);
        self.rewalk(id);
    }

    /// Lays what a person changed over the data before the task.
    fn edit_data(&mut self, id: DeploymentId, spot: Spot, record: &Record) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        if let (Some(Detail::Edits(text)), Position::Inside(key, cell)) =
            (record.detail.as_deref(), spot.position())
            && let run = deployment.runs.get_mut(&key).expect("the step is in it")
            && let Role::TaskDone { task } = run.shape.role(cell)
        {
            run.flow.edit(task as u32, text);
        }
    }

    fn reopen_from(&mut self, id: DeploymentId, spot: Spot) {
        self.reopen_departed(id, spot, true);
        match spot.position() {
            Position::StageStarted(stage) => self.reopen_stage(id, stage),
            Position::Inside(key, cell) => {
                let shape = &self.deployments[&id].runs[&key].shape;
                let first = match shape.role(cell) {
                    Role::TaskDone { task } => shape.task_start(task),
                    _ => cell,
                };
                let whole_task = first != cell;
                self.reopen_cells(id, key, |shape, it| {
                    let later = shape.is_after(cell, it) && !planted(Bug::RetryKeepsLater);
                    it == cell || later || (whole_task && it >= first)
                });
                self.reopen_markers(id, key.stage);
            }
            _ => {}
        }
    }

    /// Opens the next attempt of everything after a step that a person skips.
    pub(super) fn reopen_after(&mut self, id: DeploymentId, spot: Spot) {
        self.reopen_departed(id, spot, false);
        if let Position::Inside(key, cell) = spot.position() {
            self.reopen_cells(id, key, |shape, it| shape.is_after(cell, it));
            self.reopen_markers(id, key.stage);
        }
    }

    /// The same for steps that left the structure: if they come back they are done again.
    fn reopen_departed(&mut self, id: DeploymentId, spot: Spot, whole_task: bool) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        if deployment.attic.is_empty() {
            return;
        }
        let from = name_spot(deployment, spot, &mut self.targets, self.head);
        let definition = match spot.position() {
            Position::Inside(key, _) => Some(deployment.runs[&key].definition as usize),
            _ => None,
        };
        let definition = definition.map(|number| &*self.world.definitions[number]);
        let order = Order { targets: &self.targets, definition };
        let ended = deployment.attic.iter().filter(|(_, it)| !it.is_idle() && !it.in_flight());
        let keys: Vec<StepKey> = ended
            .map(|(key, _)| *key)
            .filter(|key| order.is_after(from, *key, whole_task))
            .collect();
        for key in keys {
            deployment.attic.entry(key).and_modify(Cell::reopen);
            deployment.open_attempt(key);
        }
    }

    /// Meets everything again: what was reopened may have been what overtook something else.
    pub(super) fn rewalk(&mut self, id: DeploymentId) {
        let in_line = self.deployments[&id].derived.in_line.keys();
        let in_line: Vec<Spot> = in_line.copied().collect();
        in_line.into_iter().for_each(|spot| self.leave_lines(id, spot));
        self.alarms.clear_delays(id);
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let (world, targets, seq) = (&self.world, &mut self.targets, self.head);
        deployment.walk(&mut Ground { world, targets, seq });
    }

    fn reopen_stage(&mut self, id: DeploymentId, stage: u32) {
        let triggered = self.deployments[&id].stages[&stage].triggered;
        let again = |run: &&Run| !triggered || !run.finish().is_settled();
        let runs = self.deployments[&id].runs.values().filter(|run| run.key.stage == stage);
        let keys: Vec<RunKey> = runs.filter(again).map(|run| run.key).collect();
        for key in keys {
            // What was triggered stays triggered.
            self.reopen_cells(id, key, |_, cell| !triggered || cell != Shape::TRIGGERED);
        }
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let state = deployment.stages.get_mut(&stage).expect("the stage was located");
        let key = (state.target, Kind::StageStarted);
        state.started.reopen();
        deployment.open_attempt(key);
        self.reopen_markers(id, stage);
    }

    /// A stage that had ended is entered again.
    pub(super) fn reopen_entry(&mut self, id: DeploymentId, stage: u32) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let state = deployment.stages.get_mut(&stage).expect("the stage was located");
        if !state.started.is_idle() {
            let key = (state.target, Kind::StageStarted);
            state.started.reopen();
            deployment.open_attempt(key);
        }
        self.reopen_markers(id, stage);
    }

    /// The ends of the stage and of the pipeline count no longer.
    fn reopen_markers(&mut self, id: DeploymentId, stage: u32) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let state = deployment.stages.get_mut(&stage).expect("the stage was located");
        let target = state.target;
        if !state.finish.is_idle() {
            state.finish.reopen();
            deployment.open_attempt((target, Kind::StageFinished));
        }
        deployment.derived.todo.remove(&Spot::stage_finished(stage));
        self.reopen_pipeline(id);
    }

    /// The end of the pipeline counts no longer.
    pub(super) fn reopen_pipeline(&mut self, id: DeploymentId) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        deployment.derived.todo.remove(&Spot::PIPELINE_FINISHED);
        if !deployment.finish.is_idle() {
            deployment.finish.reopen();
            deployment.open_attempt((TargetTable::ROOT, Kind::PipelineFinished));
        }
    }

    fn reopen_cells(
        &mut self,
        id: DeploymentId,
        key: RunKey,
        reopens: impl Fn(&Shape, u32) -> bool,
    ) {
        let run = &self.deployments[&id].runs[&key];
        let cells: Vec<u32> = (0..run.shape.len() as u32)
            .filter(|&cell| !run.cell(cell).is_idle() && reopens(&run.shape, cell))
            .collect();
        let waiting = self.deployments[&id].derived.in_line.keys().copied();
        let waiting: Vec<Spot> = waiting
            .chain(self.deployments[&id].derived.todo.iter().copied())
            .filter(|spot| match spot.position() {
                Position::Inside(it, cell) => it == key && reopens(&run.shape, cell),
                _ => false,
            })
            .collect();
        for spot in waiting {
            self.leave_lines(id, spot);
            let deployment = self.deployments.get_mut(&id).expect("it was just found");
            deployment.derived.todo.remove(&spot);
        }
        for cell in cells {
            self.release_member(id, key, cell);
            let deployment = self.deployments.get_mut(&id).expect("it was just found");
            let run = deployment.runs.get_mut(&key).expect("it was just found");
            run.change(cell, Cell::reopen);
            let step = key_of(&run.shape, run.target, cell, (self.head, &mut self.targets));
            deployment.open_attempt(step);
            if deployment.backoffs.remove(&step).is_some() {
                self.alarms.clear(id, Alarm::Backoff(step));
            }
        }
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        let run = deployment.runs.get_mut(&key).expect("it was just found");
        run.recount();
        let tasks = run.shape.tasks.iter();
        let first = tasks.clone().position(|task| reopens(&run.shape, task.done));
        run.flow.forget_from(first.map_or(u32::MAX, |task| task as u32));
    }
}
