use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Kind, TargetId};

use super::order::run_above;
use super::step::first_link;
use crate::Kernel;
use crate::state::{
    Course, Deployment, Happened, PermitKey, Position, Role, Run, RunKey, Shape, Spot,
};

impl Kernel {
    /// Gives back what a step's end frees, and whatever its run or stage no longer needs.
    pub(super) fn release_after(&mut self, id: DeploymentId, spot: Spot) {
        match spot.position() {
            Position::PipelineStarted | Position::StageStarted(_) => {}
            Position::StageFinished(stage) => self.release_stage(id, stage),
            Position::PipelineFinished => self.release_all(id),
            Position::Inside(key, cell) => {
                self.release_link(id, key, cell);
                let run = &self.deployments[&id].runs[&key];
                let definition = &self.world.definitions[run.definition as usize];
                let closes = match (run.shape.role(cell), &definition.range) {
                    (Role::TaskDone { task }, Some(range)) => task as u32 == range.last,
                    _ => false,
                };
                if closes && run.cell(cell).is_complete() {
                    self.release_own_range(id, key);
                }
                self.release_ended(id, key);
            }
        }
    }

    /// A run that has ended, by itself or with its stage, and has nothing in flight gives
    /// everything back; so does its stage, once all its runs have.
    pub(super) fn release_ended(&mut self, id: DeploymentId, key: RunKey) {
        let deployment = &self.deployments[&id];
        let (run, stage) = (&deployment.runs[&key], &deployment.stages[&key.stage]);
        let stage_over = stage.finish.is_settled() && !stage.finish.has_failed();
        if !(run.finish().is_settled() || stage_over) || self.is_busy(deployment, run) {
            return;
        }
        if run.finish().has_failed() && !stage_over && self.has_heirs(deployment, key) {
            return;
        }
        self.release_run(id, key);
        if self.deployments[&id].stages[&key.stage].finish.is_settled() {
            self.release_stage(id, key.stage);
        }
    }

    /// Whether the failure of a run still has something to trigger in its own stage, for which the
    /// run keeps what it holds.
    fn has_heirs(&self, deployment: &Deployment, key: RunKey) -> bool {
        let mut firing = deployment.derived.firing.iter();
        let due = firing.any(|(at, due)| {
            let ended = deployment.causes.get(at).map(|cause| &cause.event);
            ended == Some(&Happened::Finished(key)) && due.iter().any(|it| it.0 == key.stage)
        });
        due && !planted(Bug::NothingInherited)
    }

    /// While a run only waits for an approval it gives up its service, like a paused one.
    pub(super) fn release_while_approving(&mut self, id: DeploymentId, spot: Spot) {
        let Position::Inside(key, cell) = spot.position() else { return };
        let deployment = &self.deployments[&id];
        let run = &deployment.runs[&key];
        let Role::TaskDone { task } = run.shape.role(cell) else { return };
        let definition = &self.world.definitions[run.definition as usize];
        let waits = definition.tasks[task].name.as_str() == super::offer::APPROVAL
            && deployment.stages[&key.stage].triggered;
        if waits && run.counts.in_flight == 1 && !run.holds_inner() {
            self.release_service(id, key);
        }
    }

    /// A paused run gives up its service once nothing of it is in flight. As long as it holds a
    /// range or a member it keeps the service too: whoever got it would wait for those, and the
    /// paused run, once resumed, for the service.
    pub(super) fn release_while_paused(&mut self, id: DeploymentId) {
        let deployment = &self.deployments[&id];
        if !matches!(deployment.course, Course::Paused { .. }) {
            return;
        }
        let idle = |run: &&Run| !self.is_busy(deployment, run) && !run.holds_inner();
        let runs = deployment.runs.values().filter(|run| run.holds_service).filter(idle);
        let keys: Vec<RunKey> = runs.map(|run| run.key).collect();
        keys.into_iter().for_each(|key| self.release_service(id, key));
    }

    /// Whether something of a run is in flight, be it in the structure or gone from it.
    fn is_busy(&self, deployment: &Deployment, run: &Run) -> bool {
        let mut orphans = deployment.derived.orphans.iter();
        run.counts.in_flight > 0
            || orphans.any(|(target, _)| run_above(&self.targets, *target) == Some(run.target))
    }

    fn give_back(&mut self, id: DeploymentId, key: PermitKey, run: TargetId) {
        let deployment = &self.deployments[&id];
        let (holder, aborting) =
            (deployment.holder(run), matches!(deployment.course, Course::Aborting { .. }));
        if aborting && planted(Bug::AbortKeepsPermits) {
            return;
        }
        self.permits.release(key, holder);
        if !planted(Bug::LostWakeup) {
            self.kick(key);
        }
    }

    fn release_stage(&mut self, id: DeploymentId, number: u32) {
        let deployment = &self.deployments[&id];
        let busy = deployment.runs_in(number).any(|run| self.is_busy(deployment, run));
        let deployment = self.deployments.get_mut(&id).expect("holders are in memory");
        let stage = deployment.stages.get_mut(&number).expect("the stage was located");
        let failed = stage.finish.has_failed();
        if !busy && std::mem::take(&mut stage.holds) {
            self.give_back(id, PermitKey::Stage(number), TargetId(0));
        }
        if failed {
            return;
        }
        let started = Spot::stage_started(number);
        let deployment = self.deployments.get_mut(&id).expect("holders are in memory");
        if deployment.derived.in_line.contains_key(&started) {
            deployment.derived.todo.insert(started);
        }
        let deployment = &self.deployments[&id];
        let idle = |run: &&Run| !self.is_busy(deployment, run);
        let keys: Vec<RunKey> =
            deployment.runs_in(number).filter(idle).map(|run| run.key).collect();
        keys.into_iter().for_each(|key| self.release_run(id, key));
    }

    fn release_service(&mut self, id: DeploymentId, key: RunKey) {
        let deployment = self.deployments.get_mut(&id).expect("holders are in memory");
        let service = deployment.service_part;
        let run = deployment.runs.get_mut(&key).expect("the run was located");
        let holder = run.holder;
        if std::mem::take(&mut run.holds_service)
            && !deployment.runs_in(key.stage).any(|run| run.holds_service && run.holder == holder)
        {
            self.give_back(id, PermitKey::Service(key.stage, service), holder);
        }
    }

    fn release_own_range(&mut self, id: DeploymentId, key: RunKey) {
        let deployment = self.deployments.get_mut(&id).expect("holders are in memory");
        let run = deployment.runs.get_mut(&key).expect("the run was located");
        let held = run.holds_range_of(key.sequence);
        run.holds_range = false;
        run.inherited.retain(|sequence| *sequence != key.sequence);
        if held {
            self.give_range_back(id, key, key.sequence);
        }
    }

    /// A range goes back once none of those who hold in one name keeps it.
    fn give_range_back(&mut self, id: DeploymentId, key: RunKey, sequence: u32) {
        let deployment = &self.deployments[&id];
        let holder = deployment.runs[&key].holder;
        let kept = |run: &Run| run.holder == holder && run.holds_range_of(sequence);
        if !deployment.runs_in(key.stage).any(kept) {
            self.give_back(id, PermitKey::Range(key.stage, sequence), holder);
        }
    }

    fn release_ranges(&mut self, id: DeploymentId, key: RunKey) {
        self.release_own_range(id, key);
        let deployment = self.deployments.get_mut(&id).expect("holders are in memory");
        let run = deployment.runs.get_mut(&key).expect("the run was located");
        for sequence in std::mem::take(&mut run.inherited) {
            self.give_range_back(id, key, sequence);
        }
    }

    /// The end of a chain gives its member back, and so does its failure: a run that kept it while
    /// it waits for another member could wait for one that waits for it. What the run still does
    /// there, it does in line.
    fn release_link(&mut self, id: DeploymentId, key: RunKey, cell: u32) {
        let run = &self.deployments[&id].runs[&key];
        let Role::Link { group, member, .. } = run.shape.role(cell) else { return };
        if run.is_chain_over(group, member) {
            self.release_member(id, key, first_link(run, cell));
        }
    }

    pub(super) fn release_member(&mut self, id: DeploymentId, key: RunKey, first: u32) {
        let deployment = self.deployments.get_mut(&id).expect("holders are in memory");
        let service = deployment.service_part;
        let run = deployment.runs.get_mut(&key).expect("the run was located");
        let Role::Link { group, member, .. } = run.shape.role(first) else { return };
        let part = run.shape.groups[group].members.parts[member as usize];
        let target = run.target;
        if run.cell(first).holds() {
            run.change(first, |cell| cell.set_holds(false));
            self.give_back(id, PermitKey::Member(part, service), target);
        }
    }

    fn release_run(&mut self, id: DeploymentId, key: RunKey) {
        let run = &self.deployments[&id].runs[&key];
        if run.counts.holding > 0 {
            let cells = Shape::STARTED..run.shape.finish;
            let holding: Vec<u32> = cells.filter(|&cell| run.cell(cell).holds()).collect();
            holding.into_iter().for_each(|first| self.release_member(id, key, first));
        }
        self.release_ranges(id, key);
        self.release_service(id, key);
        self.look_again(id, key);
    }

    /// Steps of a run that ended may still be in line; they are judged afresh.
    fn look_again(&mut self, id: DeploymentId, key: RunKey) {
        let in_line = self.deployments[&id].derived.in_line.keys().copied();
        let waiting: Vec<Spot> = in_line
            .filter(|spot| matches!(spot.position(), Position::Inside(it, _) if it == key))
            .collect();
        let deployment = self.deployments.get_mut(&id).expect("holders are in memory");
        deployment.derived.todo.extend(waiting);
    }

    fn release_all(&mut self, id: DeploymentId) {
        let in_line: Vec<Spot> = self.deployments[&id].derived.in_line.keys().copied().collect();
        in_line.into_iter().for_each(|spot| self.leave_lines(id, spot));
        let stages: Vec<u32> = self.deployments[&id].stages.keys().copied().collect();
        let runs: Vec<RunKey> = self.deployments[&id].runs.keys().copied().collect();
        runs.into_iter().for_each(|key| self.release_run(id, key));
        stages.into_iter().for_each(|stage| self.release_stage(id, stage));
    }

    /// Members that left while they were held are given back once nothing of them is in flight.
    pub(super) fn release_departed(&mut self, id: DeploymentId) {
        let attic = self.deployments[&id].attic.iter();
        let held: Vec<TargetId> =
            attic.filter(|(_, cell)| cell.holds()).map(|((target, _), _)| *target).collect();
        held.into_iter().for_each(|member| self.release_departed_member(id, member));
    }

    pub(super) fn release_departed_member(&mut self, id: DeploymentId, member: TargetId) {
        let deployment = self.deployments.get_mut(&id).expect("holders are in memory");
        let mut orphans = deployment.derived.orphans.range((member, FIRST_KIND)..);
        if orphans.next().is_some_and(|(target, _)| *target == member) {
            return;
        }
        let mut attic = deployment.attic.range_mut((member, FIRST_KIND)..);
        let held = attic.find(|((target, _), cell)| *target != member || cell.holds());
        let Some((_, cell)) = held.filter(|((target, _), _)| *target == member) else { return };
        cell.set_holds(false);
        let (node, service) = (self.targets.get(member), deployment.service_part);
        let run = self.targets.get(self.targets.get(node.parent).parent).parent;
        self.give_back(id, PermitKey::Member(node.part, service), run);
    }
}

/// The kind that sorts before all others.
const FIRST_KIND: Kind = Kind::ALL[0];
