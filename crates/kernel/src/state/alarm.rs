use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{DeploymentId, Timestamp};

use super::deployment::StepKey;
use super::spot::{RunKey, Spot};

/// Something that happens to a deployment by itself when its time comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    /// A delayed task may go.
    Delay(Spot),
    /// A failed task is tried again.
    Backoff(StepKey),
    /// Nobody can take a task, or it takes too long.
    Offer(StepKey),
    /// A run takes too long.
    Run(RunKey),
}

/// All alarms, by time. Derived: every alarm follows from the state of its deployment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alarms {
    by_time: BTreeSet<(Timestamp, DeploymentId, Alarm)>,
    times: BTreeMap<(DeploymentId, Alarm), Timestamp>,
}

impl Alarms {
    pub(crate) fn set(&mut self, id: DeploymentId, alarm: Alarm, at: Timestamp) {
        self.clear(id, alarm);
        self.by_time.insert((at, id, alarm));
        self.times.insert((id, alarm), at);
    }

    pub(crate) fn clear(&mut self, id: DeploymentId, alarm: Alarm) {
        if let Some(at) = self.times.remove(&(id, alarm)) {
            self.by_time.remove(&(at, id, alarm));
        }
    }

    pub(crate) fn clear_all(&mut self, id: DeploymentId) {
        let first = (id, Alarm::Delay(Spot::PIPELINE_STARTED));
        let mine = self.times.range(first..).take_while(|((it, _), _)| *it == id);
        let mine: Vec<Alarm> = mine.map(|((_, alarm), _)| *alarm).collect();
        mine.into_iter().for_each(|alarm| self.clear(id, alarm));
    }

    /// Delays are worked out again when a deployment is walked afresh.
    pub(crate) fn clear_delays(&mut self, id: DeploymentId) {
        let first = (id, Alarm::Delay(Spot::PIPELINE_STARTED));
        let last = (id, Alarm::Delay(Spot::PIPELINE_FINISHED));
        let mine: Vec<Alarm> = self.times.range(first..=last).map(|((_, it), _)| *it).collect();
        mine.into_iter().for_each(|alarm| self.clear(id, alarm));
    }

    pub(crate) fn is_set(&self, id: DeploymentId, alarm: Alarm) -> bool {
        self.times.contains_key(&(id, alarm))
    }

    pub(crate) fn first(&self) -> Option<(Timestamp, DeploymentId, Alarm)> {
        self.by_time.first().copied()
    }
}
