use seaway_kernel::{Waiting, WaitingStep};
use seaway_model::DeploymentId;

use crate::play::Player;

impl Player<'_> {
    /// Says of everything that began to wait why it does, once.
    pub(crate) fn tell_waits(&mut self) {
        let ids: Vec<(usize, DeploymentId)> =
            self.ids.iter().map(|(ship, id)| (*ship, *id)).collect();
        for (ship, id) in ids {
            for waits in self.kernel.waiting(id, usize::MAX) {
                self.tell_wait(id, &waits);
            }
            for join in self.kernel.waiting_joins(id) {
                let name = format!("{}.{}", join.stage, join.sequence);
                let missing: Vec<String> = join.missing.iter().map(ToString::to_string).collect();
                let text = format!("{name} waits for {}", missing.join(" and "));
                let said = self.story.joins.insert((ship, name), text.clone());
                if said.as_ref() != Some(&text) {
                    self.say(Some(id), None, 0, text, None);
                }
            }
        }
    }

    fn tell_wait(&mut self, id: DeploymentId, waits: &WaitingStep) {
        let spot = self.spot(Some(id), waits.step.target);
        let (depth, what) = match &spot {
            Some(spot) if spot.task.is_some() => (1, spot.task_text()),
            _ => (0, self.place(waits.step.target)),
        };
        let text = match &waits.why {
            Waiting::NoExecutor { until, .. } => {
                format!("{what} waits: {}, and fails at {}", waits.why, self.when(*until))
            }
            Waiting::Delayed { until } => format!("{what} waits until {}", self.when(*until)),
            Waiting::Retrying { until, attempt } => {
                format!("{what} failed; attempt {attempt} follows at {}", self.when(*until))
            }
            Waiting::InLine { .. } => {
                let (why, ended_by) = self.why(waits);
                format!("{what} waits: {why}, ended by {ended_by}")
            }
            Waiting::Paused { .. } | Waiting::Overtaken => format!("{what} waits: {}", waits.why),
            _ => {
                self.story.waits.remove(&waits.step);
                return;
            }
        };
        let said = self.story.waits.insert(waits.step, text.clone());
        if said.as_ref() != Some(&text) {
            self.say(Some(id), spot, depth, text, None);
        }
    }
}
