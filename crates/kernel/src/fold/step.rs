use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Fact, Kind, Level, Outcome, Span, TargetId};

use super::apply::IllegalRecord;
use super::locate::Location;
use super::order::run_above;
use crate::Kernel;
use crate::record::{Detail, Reason, Record, Step};
use crate::state::{
    Alarm, Ground, Lease, PermitKey, Position, Role, Spot, Status, StepKey, Waiter,
};

const MAX_BACKOFF: Span = Span::from_secs(86_400);

impl Kernel {
    pub(super) fn fold_step(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        let seq = record.seq;
        let id = record.deployment.ok_or(IllegalRecord::Incomplete { seq })?;
        let deployment =
            self.deployments.get(&id).ok_or(IllegalRecord::UnknownDeployment { seq })?;
        if self.targets.try_get(record.target).is_some_and(|it| it.level == Level::Executor) {
            return self.fold_part(id, record);
        }
        let location = self.locate(deployment, record.target, record.kind);
        let location = location.ok_or(IllegalRecord::UnknownStep { seq })?;
        let rank = deployment.rank();
        if record.kind == Kind::SequenceTriggered {
            self.note_number(id, record.target);
        }
        match location {
            Location::Spot(spot) => self.fold_at(id, spot, record)?,
            Location::Attic => self.fold_in_attic(id, record),
        }
        self.lay_ghost(id, location);
        self.release_while_paused(id);
        match self.deployments[&id].has_ended() {
            true => self.remove(id),
            false => {
                self.active.insert(rank);
            }
        }
        Ok(())
    }

    fn fold_at(
        &mut self,
        id: DeploymentId,
        spot: Spot,
        record: &Record,
    ) -> Result<(), IllegalRecord> {
        let incomplete = IllegalRecord::Incomplete { seq: record.seq };
        match record.fact {
            Fact::Dispatched => {
                self.enter(id, spot, record.target);
                self.pin(id, spot, record);
                self.set_status(id, spot, Status::InFlight);
                self.open_offer(id, record);
                self.release_while_approving(id, spot);
                self.refresh_ended(id, spot);
            }
            Fact::Claimed | Fact::Started | Fact::Changed | Fact::LeaseExpired => {
                self.fold_lease(id, record);
            }
            Fact::Finished | Fact::Failed => {
                self.fold_end(id, spot, record, record.outcome.ok_or(incomplete)?);
            }
            Fact::Skipped => {
                let reason = record.reason().ok_or(incomplete)?;
                self.end_lease(id, record);
                self.end_task(id, spot, (record.target, record.kind), false);
                if let Reason::Person(_) = reason {
                    self.reopen_after(id, spot);
                }
                self.settle(id, spot, Status::skipped(reason));
                if let Reason::Person(_) = reason {
                    self.restart_clock(id, spot, record.at);
                    self.rewalk(id);
                }
            }
            Fact::Superseded => {
                if record.reason() == Some(&Reason::Replaced) {
                    self.note_replaced(id, spot, record.kind);
                }
                self.settle(id, spot, Status::Superseded);
                self.end_run(id, spot);
                let deployment = self.deployments.get_mut(&id).expect("it was just found");
                deployment.note_unended();
            }
            Fact::Cancelled => {
                self.end_lease(id, record);
                self.end_task(id, spot, (record.target, record.kind), false);
                self.settle(id, spot, Status::Cancelled);
                self.end_run(id, spot);
            }
            Fact::Retried => {
                self.end_task(id, spot, (record.target, record.kind), false);
                self.reopen(id, spot, record);
            }
            _ => return Err(IllegalRecord::UnknownStep { seq: record.seq }),
        }
        Ok(())
    }

    fn fold_end(&mut self, id: DeploymentId, spot: Spot, record: &Record, outcome: Outcome) {
        let out_of_time = record.reason() == Some(&Reason::RunTimedOut);
        if self.deployments[&id].cell(spot).is_idle() && !out_of_time {
            self.enter(id, spot, record.target);
        }
        self.end_lease(id, record);
        if self.back_off(id, spot, record) {
            return;
        }
        self.end_task(id, spot, (record.target, record.kind), true);
        if out_of_time {
            self.stop_clock(id, spot);
        }
        self.pin(id, spot, record);
        self.make_room(id, spot);
        self.note_end(id, spot, (outcome, record.seq));
        self.settle(id, spot, Status::ended(outcome));
        if let (Kind::TaskDone, Position::Inside(run, _)) = (record.kind, spot.position()) {
            // Its time may have run out while it was at a task that cannot be cut short.
            self.watch_run(id, run);
        }
        self.end_run(id, spot);
    }

    /// A stage that left is forgotten once it has ended well and no run needs it any more.
    fn lay_ghost(&mut self, id: DeploymentId, location: Location) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        if deployment.ghosts.is_empty() {
            return;
        }
        let Location::Spot(spot) = location else { return };
        let Some(number) = spot.stage() else { return };
        let over = deployment.ghosts.contains_key(&number)
            && deployment.stages[&number].finish.is_complete()
            && !deployment.needs_stage(number, &self.targets);
        if over {
            deployment.ghosts.remove(&number);
            self.rewalk(id);
        }
    }

    fn fold_in_attic(&mut self, id: DeploymentId, record: &Record) {
        self.end_lease(id, record);
        let key = (record.target, record.kind);
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        if record.fact == Fact::Cancelled
            && let Some(cell) = deployment.attic.get_mut(&key)
        {
            cell.forget();
            deployment.open_attempt(key);
            deployment.derived.orphans.remove(&key);
            self.release_departed_member(id, record.target);
            let run = run_above(&self.targets, record.target);
            let run = run.and_then(|run| self.deployments[&id].derived.run_of.get(&run).copied());
            run.into_iter().for_each(|key| self.release_ended(id, key));
        }
    }

    /// Takes the permits that a step needs, and the place that it changes.
    fn enter(&mut self, id: DeploymentId, spot: Spot, target: TargetId) {
        self.leave_lines(id, spot);
        let deployment = &self.deployments[&id];
        let needs = self.needs(deployment, spot);
        let there = match spot.position() {
            Position::Inside(run, cell) => deployment.runs[&run].holds_member(cell),
            _ => false,
        };
        let place = if there { None } else { self.place(deployment, spot) };
        let revision = deployment.revision;
        if let Some(place) = place {
            self.places.arrive(place, revision);
            self.call_up_older(id, spot);
        }
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let (mut supersedes, mut family) = (false, None);
        for need in &needs {
            if !need.shared && !need.awaited {
                self.permits.acquire(need.key, need.holder, &deployment.service);
            }
            supersedes |= matches!(need.policy, crate::Policy::Supersede { .. });
            match (need.key, spot.position()) {
                (PermitKey::Stage(_), _) if need.awaited => {}
                (PermitKey::Stage(stage), _) => {
                    deployment.stages.get_mut(&stage).expect("the step is in it").holds = true;
                }
                (key, Position::Inside(run, cell)) => {
                    let run = deployment.runs.get_mut(&run).expect("the step is in it");
                    match key {
                        // Also when the run has ended: somebody has to give it back.
                        PermitKey::Service(..) => {
                            (run.holds_service, family) = (true, Some(run.holder));
                        }
                        PermitKey::Range(..) => run.holds_range = true,
                        _ => {
                            let first = first_link(run, cell);
                            run.change(first, |cell| cell.set_holds(true));
                        }
                    }
                }
                _ => {}
            }
        }
        if let (Some(stage), Some(holder)) = (spot.stage(), family) {
            deployment.share_service(stage, holder);
        }
        if let Position::Inside(run, cell) = spot.position()
            && self.targets.get(target).level == Level::Member
        {
            let shape = &mut deployment.runs.get_mut(&run).expect("the step is in it").shape;
            if let Role::Link { group, member, .. } = shape.role(cell) {
                shape.groups[group].targets[member as usize] = target;
            }
        }
        let rank = deployment.rank();
        for need in needs {
            if supersedes {
                self.call_up_line(need.key);
            }
            // What else stood in line for it here need not any more.
            let mine = self.permits.in_line_of(need.key, rank);
            mine.into_iter().for_each(|waiter| self.call_up(waiter));
            self.kick(need.key);
        }
    }

    /// Older revisions in line for what a newer one arrived at may find themselves superseded.
    fn call_up_older(&mut self, id: DeploymentId, spot: Spot) {
        let deployment = &self.deployments[&id];
        let Some(stage) = spot.stage() else { return };
        let (mine, service) = (deployment.revision, deployment.service_part);
        let mut keys = vec![PermitKey::Service(stage, service), PermitKey::Stage(stage)];
        if let Position::Inside(key, cell) = spot.position() {
            keys.push(PermitKey::Range(stage, key.sequence));
            let shape = &deployment.runs[&key].shape;
            if let Role::Link { group, member, .. } = shape.role(cell) {
                let part = shape.groups[group].members.parts[member as usize];
                keys.push(PermitKey::Member(part, service));
            }
        }
        for key in keys {
            let older = |it: &Waiter| it.revision < mine;
            let line = self.permits.line(key).copied().take_while(older);
            let others = self.permits.bystanders(key).into_iter().filter(older);
            let older: Vec<Waiter> = line.chain(others).collect();
            older.into_iter().for_each(|waiter| self.call_up(waiter));
        }
    }

    fn call_up_line(&mut self, key: PermitKey) {
        let line: Vec<_> = self.permits.line(key).copied().collect();
        line.into_iter().for_each(|waiter| self.call_up(waiter));
    }

    fn note_replaced(&mut self, id: DeploymentId, spot: Spot, kind: Kind) {
        match (kind, spot.position()) {
            (Kind::StageFinished, Position::StageFinished(stage)) => {
                self.permits.count_replaced(PermitKey::Stage(stage));
            }
            // Who waits for a range has begun; who waits for the batch of its stage has not.
            (_, Position::Inside(run, _)) => {
                let key = match self.deployments[&id].runs[&run].pinned {
                    true => PermitKey::Range(run.stage, run.sequence),
                    false => PermitKey::Stage(run.stage),
                };
                self.permits.count_replaced(key);
            }
            _ => {}
        }
    }

    fn pin(&mut self, id: DeploymentId, spot: Spot, record: &Record) {
        if let (Some(Detail::Pins { definition }), Position::Inside(key, _)) =
            (record.detail.as_deref(), spot.position())
        {
            let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
            let run = deployment.runs.get_mut(&key).expect("the step is in it");
            (run.pinned, run.definition) = (true, *definition);
            (run.begun, run.moved) = (Some(record.at), record.at);
            self.watch_run(id, key);
            self.forget_cause(id, key);
        }
    }

    /// A failed task with attempts left is tried again by itself. Tells whether that is so.
    fn back_off(&mut self, id: DeploymentId, spot: Spot, record: &Record) -> bool {
        let key = (record.target, record.kind);
        let Position::Inside(run, cell) = spot.position() else { return false };
        let run = &self.deployments[&id].runs[&run];
        let Role::TaskDone { task } = run.shape.role(cell) else { return false };
        let retries = self.world.definitions[run.definition as usize].tasks[task].retries;
        let tries = self.deployments[&id].tries(key);
        let over = record.reason() == Some(&Reason::RunTimedOut);
        let work = run.shape.has_work(Role::TaskDone { task });
        let often = tries.spent >= retries.limit && !planted(Bug::RetriesUnlimited);
        if record.fact != Fact::Failed || over || !work || often {
            return false;
        }
        let longer = retries.backoff.0.saturating_mul(1 << tries.spent.min(20));
        let until = record.at + Span(longer.min(MAX_BACKOFF.0));
        self.close_offer(id, spot, key, false);
        self.set_status(id, spot, Status::Backoff);
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        deployment.backoffs.insert(key, until);
        deployment.tries.entry(key).or_default().spent = tries.spent + 1;
        self.alarms.set(id, Alarm::Backoff(key), until);
        true
    }

    /// A task is over, one way or another.
    fn end_task(&mut self, id: DeploymentId, spot: Spot, key: StepKey, counts: bool) {
        if key.1 != Kind::TaskDone {
            return;
        }
        self.close_offer(id, spot, key, counts);
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        if deployment.backoffs.remove(&key).is_some() {
            self.alarms.clear(id, Alarm::Backoff(key));
        }
        self.alarms.clear(id, Alarm::Delay(spot));
    }

    /// A run that is over no longer takes too long, and its data is with whatever it triggered.
    fn end_run(&mut self, id: DeploymentId, spot: Spot) {
        let Position::Inside(key, cell) = spot.position() else { return };
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let run = deployment.runs.get_mut(&key).expect("the step is in it");
        if cell != run.shape.finish {
            return;
        }
        if !run.finish().has_failed() {
            run.flow.clear();
        }
        deployment.derived.unended.remove(&key);
        self.stop_clock(id, spot);
        self.forget_cause(id, key);
    }

    /// A group that starts will soon name and hold all its members; tables that grow to that size
    /// step by step would copy themselves again and again.
    fn make_room(&mut self, id: DeploymentId, spot: Spot) {
        let deployment = &self.deployments[&id];
        let Position::Inside(key, cell) = spot.position() else { return };
        let shape = &deployment.runs[&key].shape;
        let Role::GroupStarted { group } = shape.role(cell) else { return };
        let group = &shape.groups[group];
        let members = group.members.len();
        if group.targets.iter().all(|target| *target == TargetId(0)) {
            self.targets.reserve(members);
        }
        if group.changes_members() {
            let name = self.targets.get(group.target).part;
            self.permits.reserve(members);
            self.places.reserve((key.stage, deployment.service_part, name), members);
        }
    }

    pub(super) fn fold_lease(&mut self, id: DeploymentId, record: &Record) {
        let key = (record.target, record.kind);
        let step = Step { deployment: id, target: record.target, kind: record.kind };
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        match (record.fact, record.detail.as_deref()) {
            (Fact::Claimed, Some(Detail::Lease { executor, ttl })) => {
                deployment.tries.entry(key).or_default().leases = record.n;
                let (executor, since) = (executor.clone(), record.at);
                let lease = Lease { executor, number: record.n, since, ttl: *ttl };
                deployment.leases.insert(key, lease);
                self.volatile.set(step, record.at + *ttl);
            }
            (Fact::Started, _) => {
                deployment.tries.entry(key).or_default().started = Some(record.fence());
            }
            (Fact::Changed, _) => deployment.tries.entry(key).or_default().changes = record.n,
            (Fact::LeaseExpired, _) => {
                deployment.leases.remove(&key);
                deployment.derived.swept = Spot::PIPELINE_STARTED;
                self.volatile.clear(step);
            }
            _ => {}
        }
    }

    pub(super) fn end_lease(&mut self, id: DeploymentId, record: &Record) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        if deployment.leases.is_empty() {
            return;
        }
        if deployment.leases.remove(&(record.target, record.kind)).is_some() {
            let step = Step { deployment: id, target: record.target, kind: record.kind };
            self.volatile.clear(step);
        }
    }

    /// Changes the status of a step and nothing else.
    fn set_status(&mut self, id: DeploymentId, spot: Spot, status: Status) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        deployment.derived.todo.remove(&spot);
        match spot.position() {
            Position::PipelineStarted => {}
            Position::StageStarted(stage) => {
                deployment.stages.get_mut(&stage).expect("it was located").started.set(status);
            }
            Position::StageFinished(stage) => {
                deployment.stages.get_mut(&stage).expect("it was located").finish.set(status);
            }
            Position::Inside(run, cell) => {
                deployment.runs.get_mut(&run).expect("it was located").set(cell, status);
            }
            Position::PipelineFinished => deployment.finish.set(status),
        }
    }

    /// Something may have changed in a stage that has ended.
    pub(crate) fn refresh_ended(&mut self, id: DeploymentId, spot: Spot) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let (world, targets, seq) = (&self.world, &mut self.targets, self.head);
        deployment.refresh_ended(&mut Ground { world, targets, seq }, spot);
    }

    /// A step ended, well or badly: what comes after it is met, what it held is given back.
    fn settle(&mut self, id: DeploymentId, spot: Spot, status: Status) {
        let passed_over = self.deployments[&id].cell(spot).is_passed_over();
        self.leave_lines(id, spot);
        self.set_status(id, spot, status);
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let (world, seq) = (&self.world, self.head);
        let mut ground = Ground { world, targets: &mut self.targets, seq };
        match spot.position() {
            Position::PipelineStarted | Position::PipelineFinished => {}
            Position::StageStarted(stage) => {
                if !passed_over {
                    deployment.enter_stage(&mut ground, stage);
                }
                deployment.refresh(&mut ground, stage);
            }
            Position::StageFinished(stage) => deployment.refresh(&mut ground, stage),
            Position::Inside(key, cell) => {
                if deployment.cell(spot).is_complete() && deployment.note_passed(world, key, cell) {
                    let in_line = deployment.derived.in_line.keys().copied();
                    deployment.derived.todo.extend(in_line);
                }
                let run = deployment.runs.get_mut(&key).expect("the step is in it");
                run.moved = self.time;
                // The walk went on through what was passed over before it was logged.
                let withdrawn = deployment.runs[&key].withdrawn;
                if !(withdrawn || passed_over && status == Status::Surpassed) {
                    deployment.settled(&mut ground, key, cell);
                }
            }
        }
        self.rejoin(id, spot);
        self.release_after(id, spot);
    }

    /// A run that gave up its service for an approval has it again at once, if its family does.
    fn rejoin(&mut self, id: DeploymentId, spot: Spot) {
        let Position::Inside(key, _) = spot.position() else { return };
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        let run = &deployment.runs[&key];
        let asks = run.origin.is_some() && run.pinned && !run.holds_service;
        if !asks || run.withdrawn || run.finish().is_settled() {
            return;
        }
        let holder = deployment.holder(run.holder);
        let service = PermitKey::Service(key.stage, deployment.service_part);
        if self.permits.holders(service).contains(&holder) {
            deployment.runs.get_mut(&key).expect("it was just looked at").holds_service = true;
        }
    }
}

/// The first step of the chain that a step belongs to.
pub(super) fn first_link(run: &crate::state::Run, cell: u32) -> u32 {
    match run.shape.role(cell) {
        Role::Link { group, member, .. } => run.shape.groups[group].cell(member, 0),
        _ => cell,
    }
}

/// A report's outcome as a fact: what fails is not finished.
pub(crate) fn ending(outcome: Outcome) -> Fact {
    match outcome {
        Outcome::Pass | Outcome::Warning => Fact::Finished,
        Outcome::Fail => Fact::Failed,
    }
}
