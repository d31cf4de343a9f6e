use seaway_model::{Attempt, DeploymentId, Fact, Kind, Outcome, TargetTable};

use super::emit::{Draft, Pen};
use crate::Kernel;
use crate::fold::ending;
use crate::record::{Detail, Reason};
use crate::state::{Alarm, Course, Deployment, RunKey, Spot, StepKey};

impl Kernel {
    /// Does what is due by now: executors that are silent leave, tasks and runs that take too long
    /// fail, failed ones are tried again, delayed ones go. Tells whether anything was done.
    pub(super) fn ring(&mut self, pen: &mut Pen<'_>) -> bool {
        if let Some((until, executor)) = self.executors.first_silent()
            && until <= pen.now
        {
            let executor = executor.clone();
            self.write_leave(&executor, pen);
            return true;
        }
        let Some((_, id, alarm)) = self.alarms.first().filter(|(at, _, _)| *at <= pen.now) else {
            return false;
        };
        self.alarms.clear(id, alarm);
        let Some(deployment) = self.deployments.get(&id) else { return true };
        let aborting = matches!(deployment.course, Course::Aborting { .. });
        match alarm {
            _ if aborting => {}
            Alarm::Delay(spot) => self.look_at(id, spot),
            Alarm::Backoff(key) => self.emit_at(id, key, Draft::new(Fact::Retried), pen),
            Alarm::Offer(key) => self.give_up(id, key, pen),
            Alarm::Run(run) => self.run_out(id, run, pen),
        }
        true
    }

    pub(crate) fn write_leave(&mut self, executor: &seaway_model::ExecutorName, pen: &mut Pen<'_>) {
        let detail = Some(Box::new(Detail::Leaves { executor: executor.clone() }));
        let draft = Draft { detail, ..Draft::new(Fact::ExecutorLeft) };
        self.write_project(Kind::Executor, draft, pen);
    }

    /// Writes a record about the project; its position tells it from others of its kind.
    pub(crate) fn write_project(&mut self, kind: Kind, draft: Draft, pen: &mut Pen<'_>) {
        let attempt = Attempt(u32::try_from(self.head.0 + 1).unwrap_or(u32::MAX));
        self.write((None, None, TargetTable::ROOT, kind, attempt), draft, pen);
    }

    fn look_at(&mut self, id: DeploymentId, spot: Spot) {
        let deployment = self.deployments.get_mut(&id).expect("alarms are of deployments here");
        deployment.derived.todo.insert(spot);
        self.active.insert(deployment.rank());
    }

    /// Nobody took a task in time, or whoever did takes too long.
    fn give_up(&mut self, id: DeploymentId, key: StepKey, pen: &mut Pen<'_>) {
        let Some(offer) = self.deployments[&id].offers.get(&key) else { return };
        let reason = if offer.alone.is_some() { Reason::NoExecutor } else { Reason::TimedOut };
        self.fail_task(id, key, reason, pen);
    }

    fn fail_task(&mut self, id: DeploymentId, key: StepKey, reason: Reason, pen: &mut Pen<'_>) {
        self.cancel_parts(id, key, &reason, pen);
        // A task that waits for its next attempt has failed in this one already.
        let n = u32::from(self.deployments[&id].backoffs.contains_key(&key));
        let outcome = Some(Outcome::Fail);
        self.emit_at(id, key, Draft { n, outcome, ..Draft::because(Fact::Failed, reason) }, pen);
    }

    /// Tells everybody who holds a share of a task to stop.
    pub(crate) fn cancel_parts(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        reason: &Reason,
        pen: &mut Pen<'_>,
    ) {
        let deployment = &self.deployments[&id];
        let Some(offer) = deployment.offers.get(&key) else { return };
        let held = offer.parts.iter().map(|part| (part.target, key.1));
        let held: Vec<StepKey> = held.filter(|it| deployment.leases.contains_key(it)).collect();
        for part in held {
            self.cancel(id, part, reason.clone(), pen);
        }
    }

    /// An aborted deployment waits for nobody who holds a share of its tasks.
    pub(super) fn cancel_claimed(&mut self, id: DeploymentId, pen: &mut Pen<'_>) -> bool {
        let deployment = &self.deployments[&id];
        let held = deployment
            .offers
            .iter()
            .flat_map(|(key, offer)| offer.parts.iter().map(|part| (part.target, key.1)));
        let Some(part) = held.into_iter().find(|key| deployment.leases.contains_key(key)) else {
            return false;
        };
        self.cancel(id, part, Reason::Aborted, pen);
        true
    }

    /// A run took too long: the task that it is at fails for good.
    fn run_out(&mut self, id: DeploymentId, run: RunKey, pen: &mut Pen<'_>) {
        let deployment = &self.deployments[&id];
        let Some(run) = deployment.runs.get(&run).filter(|run| !run.finish().is_settled()) else {
            return;
        };
        let at = run.shape.tasks.iter().find(|task| !run.cell(task.done).is_settled());
        if let Some(task) = at.filter(|task| task.groups.is_empty()) {
            let key = (task.target, Kind::TaskDone);
            self.fail_task(id, key, Reason::RunTimedOut, pen);
        }
    }

    /// Ends a task that everybody has answered. Tells whether there was one.
    pub(super) fn close_ripe(&mut self, id: DeploymentId, pen: &mut Pen<'_>) -> bool {
        let deployment = &self.deployments[&id];
        let Some(&key) = deployment.derived.ripe.first() else { return false };
        if let Course::Aborting { .. } = deployment.course {
            return false;
        }
        let outcome = deployment.offers[&key].end().expect("it is ripe");
        let draft = Draft { outcome: Some(outcome), ..Draft::new(ending(outcome)) };
        self.emit_at(id, key, draft, pen);
        true
    }
}

impl Deployment {
    /// The end of a run that was withdrawn, or superseded with its stage, if it is not logged yet;
    /// and which of the two it was.
    pub(super) fn unended(&self) -> Option<(Spot, bool)> {
        let gone = self.derived.unended.iter().map(|key| &self.runs[key]);
        let run = gone.into_iter().find(|run| !run.finish().is_settled())?;
        Some((Spot::inside(run.key, run.shape.finish), run.withdrawn))
    }

    /// The end of a triggered run that is not over.
    pub(super) fn open_run(&self) -> Option<Spot> {
        let triggered = self.runs.values().filter(|run| run.origin.is_some());
        let run = triggered.into_iter().find(|run| !run.finish().is_settled())?;
        Some(Spot::inside(run.key, run.shape.finish))
    }
}
