use seaway_model::{DeploymentId, Timestamp};

use crate::Kernel;
use crate::state::{Alarm, Course, Position, Run, RunKey, Spot};

/// How long runs may take. Their clocks stand still while their deployment is paused.
impl Kernel {
    /// Sets the alarm for a run that may not take for ever.
    pub(crate) fn watch_run(&mut self, id: DeploymentId, key: RunKey) {
        let deployment = &self.deployments[&id];
        let run = &deployment.runs[&key];
        let timeout = self.world.definitions[run.definition as usize].timeout;
        let paused = matches!(deployment.course, Course::Paused { .. });
        match (run.begun, timeout) {
            (Some(begun), Some(timeout)) if !paused => {
                self.alarms.set(id, Alarm::Run(key), begun + timeout);
            }
            _ => self.alarms.clear(id, Alarm::Run(key)),
        }
    }

    /// The run of a step has had its time, or is over: what it still does may take any time.
    pub(super) fn stop_clock(&mut self, id: DeploymentId, spot: Spot) {
        let Position::Inside(key, _) = spot.position() else { return };
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        deployment.runs.get_mut(&key).expect("the step is in it").begun = None;
        self.alarms.clear(id, Alarm::Run(key));
    }

    /// A run that had ended and goes on has its whole time again.
    pub(super) fn restart_clock(&mut self, id: DeploymentId, spot: Spot, at: Timestamp) {
        let Position::Inside(key, _) = spot.position() else { return };
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        let run = deployment.runs.get_mut(&key).expect("the step is in it");
        if run.pinned && !run.finish().is_settled() {
            run.begun.get_or_insert(at);
            self.watch_run(id, key);
        }
    }

    /// Stops the clocks of a deployment that is paused, or lets them go on where they stopped.
    pub(super) fn set_clocks(
        &mut self,
        id: DeploymentId,
        paused: Option<Timestamp>,
        at: Timestamp,
    ) {
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        let running = deployment.runs.values_mut().filter(|run| run.begun.is_some());
        let keys: Vec<RunKey> = running
            .map(|run: &mut Run| {
                if let (Some(begun), Some(paused)) = (&mut run.begun, paused) {
                    *begun = *begun + (at - paused.max(*begun));
                }
                run.key
            })
            .collect();
        keys.into_iter().for_each(|key| self.watch_run(id, key));
    }
}
