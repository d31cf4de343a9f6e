use seaway_model::{DeploymentId, Fact, Timestamp};

use super::emit::{Draft, Pen};
use super::judge::{Back, Judgement};
use super::keys::Need;
use crate::Kernel;
use crate::kernel::Pace;
use crate::record::{Actor, Detail, Reason, Record, Step};
use crate::state::{
    Alarm, Course, PermitKey, Position, Role, Run, RunKey, Shape, Spot, Status, StepKey, Waiter,
    known_key_of,
};
use crate::structure::Policy;

impl Kernel {
    /// Expires leases and moves everything that can move, oldest revision first. Makes at most
    /// `limit` records, each folded already.
    pub fn tick(&mut self, now: Timestamp, limit: usize, out: &mut Vec<Record>) -> Pace {
        let now = now.max(self.time);
        self.volatile.now = now;
        let end = out.len().saturating_add(limit);
        let mut pen = Pen { now, by: &Actor::Seaway, out };
        while pen.out.len() < end {
            let timed = self.expire_lease(&mut pen) || self.ring(&mut pen);
            if !timed && !self.advance(&mut pen) {
                return Pace::Idle;
            }
        }
        Pace::More
    }

    fn expire_lease(&mut self, pen: &mut Pen<'_>) -> bool {
        let Some(&(at, step)) = self.volatile.by_deadline.first() else { return false };
        if at > pen.now {
            return false;
        }
        let Step { deployment, target, kind } = step;
        let n = self.deployments[&deployment].tries((target, kind)).leases;
        let draft = Draft { n, ..Draft::new(Fact::LeaseExpired) };
        self.emit_at(deployment, (target, kind), draft, pen);
        true
    }

    /// Makes the next record, if there is one to be made.
    fn advance(&mut self, pen: &mut Pen<'_>) -> bool {
        while let Some(&rank) = self.active.first() {
            let id = self.by_start[&rank.1];
            if self.fire_next(id, pen) {
                return true;
            }
            if self.deployments[&id].has_ended() {
                // It is only here until the next sweep, or was brought back to answer a question.
                self.active.remove(&rank);
                continue;
            }
            if self.clean_up(id, pen) || self.close_ripe(id, pen) {
                return true;
            }
            let deployment = &self.deployments[&id];
            let spot = match deployment.course {
                Course::Running => deployment.derived.todo.first().copied(),
                Course::Paused { .. } | Course::Aborting { .. } => None,
            };
            match spot {
                Some(spot) if self.handle(id, spot, pen) => return true,
                Some(_) => {}
                None => {
                    self.active.remove(&rank);
                }
            }
        }
        false
    }

    /// Looks at one step. Tells whether a record was made.
    fn handle(&mut self, id: DeploymentId, spot: Spot, pen: &mut Pen<'_>) -> bool {
        let left = self.step_out_of_line(id, spot);
        let judgement = self.judge(&self.deployments[&id], spot);
        let kept: Vec<PermitKey> = match &judgement {
            Judgement::InLine(needs) => needs.iter().map(|need| need.key).collect(),
            _ => Vec::new(),
        };
        let made = self.carry_out(id, spot, judgement, pen);
        // Whoever stood behind it in a line that it left may be able to move.
        left.into_iter().filter(|key| !kept.contains(key)).for_each(|key| self.kick(key));
        made
    }

    fn carry_out(
        &mut self,
        id: DeploymentId,
        spot: Spot,
        judgement: Judgement,
        pen: &mut Pen<'_>,
    ) -> bool {
        if judgement.parks() {
            let deployment = self.deployments.get_mut(&id).expect("the deployment is being moved");
            deployment.derived.todo.remove(&spot);
        }
        let draft = match judgement {
            Judgement::Over | Judgement::Held | Judgement::Stale => {
                self.refresh_ended(id, spot);
                return false;
            }
            Judgement::Later(until) => {
                self.alarms.set(id, Alarm::Delay(spot), until);
                return false;
            }
            Judgement::InLine(needs) => {
                self.line_up(id, spot, &needs);
                if needs.iter().any(|need| matches!(need.policy, Policy::Supersede { .. })) {
                    // Who waits behind may now have somebody to replace.
                    needs.iter().for_each(|need| self.call_up_younger(need.key, id));
                }
                return false;
            }
            Judgement::Skip(reason) => Draft::because(Fact::Skipped, reason),
            Judgement::Replaces(key, waiter) => {
                self.replace(key, waiter, pen);
                return true;
            }
            Judgement::ComesBack(key, back) => {
                self.come_back(id, spot, (key, back), pen);
                return true;
            }
            Judgement::Ends(verdict) => self.pinning(id, spot, Draft::ends(verdict)),
            Judgement::Doable => {
                let draft = self.offering(id, spot, Draft::new(Fact::Dispatched));
                self.pinning(id, spot, draft)
            }
        };
        self.emit(id, spot, draft, pen);
        true
    }

    /// A run that starts says which definition it keeps; so does one whose start was passed over,
    /// with the first thing that it does.
    fn pinning(&self, id: DeploymentId, spot: Spot, mut draft: Draft) -> Draft {
        let Position::Inside(key, cell) = spot.position() else { return draft };
        let run = &self.deployments[&id].runs[&key];
        if draft.detail.is_some() {
            return draft;
        }
        if cell == Shape::STARTED || (cell > Shape::STARTED && !run.pinned) {
            draft.detail = Some(Box::new(Detail::Pins { definition: run.definition }));
        }
        draft
    }

    /// A task of a triggered stage goes to whoever subscribed to it.
    fn offering(&self, id: DeploymentId, spot: Spot, mut draft: Draft) -> Draft {
        let Position::Inside(key, cell) = spot.position() else { return draft };
        let deployment = &self.deployments[&id];
        let task = matches!(deployment.runs[&key].shape.role(cell), Role::TaskDone { .. });
        if deployment.stages[&key.stage].triggered && task {
            let to = self.subscribers(deployment, spot);
            draft.detail = Some(Box::new(Detail::Offered { to }));
        }
        draft
    }

    /// A step that is looked at again keeps no place in line from before.
    fn step_out_of_line(&mut self, id: DeploymentId, spot: Spot) -> Vec<PermitKey> {
        let deployment = self.deployments.get_mut(&id).expect("the deployment is being moved");
        let Some(keys) = deployment.derived.in_line.remove(&spot) else { return Vec::new() };
        let (revision, started) = deployment.rank();
        keys.iter().for_each(|&key| self.permits.leave(key, Waiter { revision, started, spot }));
        keys
    }

    fn line_up(&mut self, id: DeploymentId, spot: Spot, needs: &[Need]) {
        let deployment = self.deployments.get_mut(&id).expect("the deployment is being moved");
        let (revision, started) = deployment.rank();
        let me = Waiter { revision, started, spot };
        for need in needs {
            match need.awaited {
                true => self.permits.stand_by(need.key, me),
                false => self.permits.join(need.key, me),
            }
        }
        deployment.derived.in_line.insert(spot, needs.iter().map(|need| need.key).collect());
    }

    fn call_up_younger(&mut self, key: PermitKey, id: DeploymentId) {
        let mine = self.deployments[&id].revision;
        let younger: Vec<Waiter> =
            self.permits.line(key).filter(|waiter| waiter.revision > mine).copied().collect();
        younger.into_iter().for_each(|waiter| self.call_up(waiter));
    }

    /// A newer waiter takes the place of an older one, whose stage or run ends as superseded.
    fn replace(&mut self, key: PermitKey, waiter: Waiter, pen: &mut Pen<'_>) {
        let id = self.by_start[&waiter.started];
        let beside = |run: RunKey| self.deployments[&id].has_exempt(run.stage);
        let spot = match (key, waiter.spot.position()) {
            (PermitKey::Range(..), Position::Inside(run, _)) => self.run_end(id, run),
            // What goes on beside the batch is not replaced with it.
            (_, Position::Inside(run, _)) if beside(run) => self.run_end(id, run),
            (_, Position::StageStarted(stage) | Position::StageFinished(stage)) => {
                Spot::stage_finished(stage)
            }
            (_, Position::Inside(run, _)) => Spot::stage_finished(run.stage),
            _ => Spot::PIPELINE_FINISHED,
        };
        self.emit(id, spot, Draft::because(Fact::Superseded, Reason::Replaced), pen);
    }

    fn run_end(&self, id: DeploymentId, run: RunKey) -> Spot {
        Spot::inside(run, self.deployments[&id].runs[&run].shape.finish)
    }

    fn come_back(
        &mut self,
        id: DeploymentId,
        spot: Spot,
        (key, back): (PermitKey, Back),
        pen: &mut Pen<'_>,
    ) {
        let (stage, inside) = match spot.position() {
            Position::Inside(run, cell) => (run.stage, Some((run, cell))),
            Position::StageStarted(stage) | Position::StageFinished(stage) => (stage, None),
            _ => return,
        };
        let deployment = &self.deployments[&id];
        let beside = deployment.has_exempt(stage);
        let (spot, fact) = match (key, back, inside) {
            (PermitKey::Stage(_), Back::Superseded, Some((run, _))) if beside => {
                (self.run_end(id, run), Fact::Superseded)
            }
            (PermitKey::Stage(_), Back::StartsAgain, Some((run, _))) if beside => {
                (Spot::inside(run, Shape::STARTED), Fact::Retried)
            }
            (PermitKey::Stage(_), Back::Superseded, _) | (_, Back::Superseded, None) => {
                (Spot::stage_finished(stage), Fact::Superseded)
            }
            (PermitKey::Stage(_), Back::StartsAgain, _) | (_, Back::StartsAgain, None) => {
                (Spot::stage_started(stage), Fact::Retried)
            }
            (_, Back::Superseded, Some((run, _))) => (self.run_end(id, run), Fact::Superseded),
            (PermitKey::Range(..), Back::StartsAgain, Some((run, _))) => {
                let run = &deployment.runs[&run];
                let definition = &self.world.definitions[run.definition as usize];
                let first = definition.range.as_ref().map_or(0, |range| range.first as usize);
                (Spot::inside(run.key, run.shape.tasks[first].done), Fact::Retried)
            }
            (PermitKey::Member(..), Back::StartsAgain, Some((run, cell))) => {
                let shape = &deployment.runs[&run].shape;
                let first = match shape.role(cell) {
                    Role::Link { group, member, .. } => shape.groups[group].cell(member, 0),
                    _ => cell,
                };
                (Spot::inside(run, first), Fact::Retried)
            }
            (PermitKey::Service(..), Back::StartsAgain, Some((run, _))) => {
                (Spot::inside(run, Shape::STARTED), Fact::Retried)
            }
        };
        self.emit(id, spot, Draft::new(fact), pen);
    }

    /// Cancels what left the structure, and what an aborted deployment still has. Tells whether a
    /// record was made.
    fn clean_up(&mut self, id: DeploymentId, pen: &mut Pen<'_>) -> bool {
        let deployment = &self.deployments[&id];
        if let Some(&key) = deployment.derived.orphans.first() {
            self.cancel(id, key, Reason::Orphaned, pen);
            return true;
        }
        if let Some((spot, withdrawn)) = deployment.unended() {
            let draft = match withdrawn {
                true => Draft::because(Fact::Cancelled, Reason::Withdrawn),
                false => Draft::new(Fact::Superseded),
            };
            self.emit(id, spot, draft, pen);
            return true;
        }
        let Course::Aborting { .. } = deployment.course else { return false };
        if self.cancel_claimed(id, pen) {
            return true;
        }
        let deployment = &self.deployments[&id];
        if deployment.in_flight() > 0 {
            let idle = self.unclaimed_in_flight(id);
            return match idle {
                Some(spot) => {
                    self.emit(id, spot, Draft::because(Fact::Cancelled, Reason::Aborted), pen);
                    true
                }
                None => false,
            };
        }
        if let Some(spot) = deployment.open_run() {
            self.emit(id, spot, Draft::because(Fact::Cancelled, Reason::Aborted), pen);
            return true;
        }
        let open = deployment.stages.iter().find(|(_, stage)| {
            stage.started.status() == Status::Passed && !stage.finish.is_settled()
        });
        let spot = match open {
            Some((number, _)) => Spot::stage_finished(*number),
            None => Spot::PIPELINE_FINISHED,
        };
        self.emit(id, spot, Draft::because(Fact::Cancelled, Reason::Aborted), pen);
        true
    }

    pub(crate) fn cancel(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        reason: Reason,
        pen: &mut Pen<'_>,
    ) {
        let n = self.deployments[&id].tries(key).leases;
        let draft = Draft { n, ..Draft::because(Fact::Cancelled, reason) };
        self.emit_at(id, key, draft, pen);
    }

    /// A step in flight that nobody holds. Nothing is dispatched any more, so that what was looked
    /// at need not be looked at again.
    fn unclaimed_in_flight(&mut self, id: DeploymentId) -> Option<Spot> {
        let deployment = &self.deployments[&id];
        let from = deployment.derived.swept;
        let busy = deployment.runs.values().filter(|run| {
            run.counts.in_flight > 0 && Spot::inside(run.key, run.shape.finish) >= from
        });
        let mut spots = busy.flat_map(|run| {
            let first = match from.position() {
                Position::Inside(key, cell) if key == run.key => cell,
                _ => 0,
            };
            let cells = (first..run.shape.len() as u32).filter(|&cell| run.cell(cell).in_flight());
            cells.map(move |cell| (run, cell))
        });
        let unclaimed = |(run, cell): &(&Run, u32)| {
            let key = known_key_of(&run.shape, run.target, *cell, &self.targets);
            key.is_ok_and(|key| !deployment.leases.contains_key(&key))
        };
        let found = spots.find(unclaimed).map(|(run, cell)| Spot::inside(run.key, cell));
        let deployment = self.deployments.get_mut(&id).expect("the deployment was just found");
        deployment.derived.swept = found.unwrap_or(Spot::PIPELINE_FINISHED);
        found
    }
}
