use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Fact, Kind, Outcome, Seq, TargetTable};
use serde_json::Value;

use super::emit::{Draft, Pen};
use crate::flow::{self, MAX_PAYLOAD, object, text_at};
use crate::record::{Actor, Detail, Reason};
use crate::state::{Cause, Course, Deployment, Happened, RunKey};
use crate::structure::{Event, On, Trigger};
use crate::{Kernel, Refusal};

/// An entry of a sequence: stage, sequence, position.
pub(crate) type Entry = (u32, u32, u32);

impl Kernel {
    /// The events of the newest structure that a cause is.
    fn events_of(&self, cause: &Cause) -> Vec<Event> {
        match &cause.event {
            Happened::Finished(run) => {
                let stage = self.world.stages.name(run.stage).clone();
                let sequence = self.world.sequences.name(run.sequence).clone();
                vec![Event::Finished { stage, sequence }]
            }
            Happened::Received { name, stage } => {
                let qualified = stage.as_ref().map(|stage| format!("{stage}.{name}").into());
                let names = [Some(name.clone()), qualified];
                names.into_iter().flatten().map(Event::Domain).collect()
            }
        }
    }

    /// Whether any entry names what happened.
    pub(crate) fn may_fire(&self, cause: &Cause) -> bool {
        self.events_of(cause).iter().any(|event| self.world.triggers.contains_key(event))
    }

    /// Whether an entry names what happened.
    pub(crate) fn names(&self, cause: &Cause, trigger: &Trigger) -> bool {
        let events = self.events_of(cause);
        trigger.events().iter().any(|event| events.contains(event))
    }

    /// Whether a join names what happened.
    pub(crate) fn is_joined(&self, cause: &Cause) -> bool {
        let events = self.events_of(cause);
        let mut joins = self.world.joins.iter().filter_map(|entry| self.world.trigger(*entry));
        joins.any(|trigger| trigger.events().iter().any(|event| events.contains(event)))
    }

    /// The entries that a cause still has to fire.
    pub(crate) fn dues(&self, deployment: &Deployment, at: Seq) -> impl Iterator<Item = Entry> {
        let mut due: Vec<Entry> = Vec::new();
        if let Some(cause) = deployment.causes.get(&at).filter(|cause| cause.open) {
            for event in self.events_of(cause) {
                due.extend(self.world.triggers.get(&event).into_iter().flatten());
            }
            due.sort_unstable();
            due.dedup();
            due.retain(|entry| self.is_due(deployment, (at, cause), *entry));
        }
        due.into_iter()
    }

    fn is_due(&self, deployment: &Deployment, (at, cause): (Seq, &Cause), entry: Entry) -> bool {
        let Some(trigger) = self.world.trigger(entry) else { return false };
        let again = planted(Bug::FiredTwice) && cause.runs.len() == 1;
        let fired = cause.fired.contains(&(entry.0, entry.1, trigger.clone())) && !again;
        !fired && self.derives(deployment, (at, cause), entry, trigger)
    }

    /// Whether an entry takes what happened; a join, whether it is the last of what it waits for.
    pub(crate) fn derives(
        &self,
        deployment: &Deployment,
        (at, cause): (Seq, &Cause),
        entry: Entry,
        trigger: &Trigger,
    ) -> bool {
        if !self.takes(cause, entry, trigger) {
            return false;
        }
        match &trigger.on {
            On::Event(_) => true,
            On::All(events) => {
                events.iter().skip(planted(Bug::JoinIncomplete).into()).all(|event| {
                    let newest = self.joins(deployment, event, entry, trigger);
                    newest.is_some_and(|(newest, _)| newest <= at)
                })
            }
        }
    }

    fn takes(&self, cause: &Cause, (stage, _, _): Entry, trigger: &Trigger) -> bool {
        if let Happened::Received { stage: Some(at), .. } = &cause.event
            && at != self.world.stages.name(stage)
        {
            return false;
        }
        let selector = &trigger.selector;
        if !selector.takes(cause.outcome, cause.last_task.as_ref()) {
            return false;
        }
        if selector.data.is_empty() {
            return true;
        }
        let data = Value::Object(object(&cause.data).unwrap_or_default());
        selector.data.iter().all(|(path, _)| {
            let found = text_at(&data, path);
            let mut same = selector.data.iter().filter(|(it, _)| it == path);
            same.any(|(_, text)| found.as_deref() == Some(text))
        })
    }

    /// The newest cause that is one event of a join, since the join last fired.
    fn joins<'a>(
        &self,
        deployment: &'a Deployment,
        event: &Event,
        entry: Entry,
        trigger: &Trigger,
    ) -> Option<(Seq, &'a Cause)> {
        let join = (entry.0, entry.1, trigger.clone());
        let fired = deployment.joined.get(&join).copied();
        let known = self.world.join_since.get(&join).copied();
        let from = fired.max(known).map_or(Seq(0), Seq::next);
        let mut causes = deployment.causes.range(from..).rev();
        causes
            .find(|(_, cause)| {
                self.events_of(cause).contains(event) && self.takes(cause, entry, trigger)
            })
            .map(|(at, cause)| (*at, cause))
    }

    /// Which events a join still waits for; none if it has seen nothing yet.
    pub(crate) fn missing(&self, deployment: &Deployment, entry: Entry) -> Option<Vec<Event>> {
        let trigger = self.world.trigger(entry)?;
        let On::All(events) = &trigger.on else { return None };
        let missing =
            events.iter().filter(|event| self.joins(deployment, event, entry, trigger).is_none());
        let missing: Vec<Event> = missing.cloned().collect();
        (missing.len() < events.len()).then_some(missing)
    }

    /// Fires the next trigger of a deployment, if one is due. Tells whether a record was made.
    pub(super) fn fire_next(&mut self, id: DeploymentId, pen: &mut Pen<'_>) -> bool {
        loop {
            let deployment = &self.deployments[&id];
            let Some(&at) = deployment.derived.firing.first() else { return false };
            let aborting = matches!(deployment.course, Course::Aborting { .. });
            let due = if aborting { None } else { self.dues(deployment, at).next() };
            if let Some(entry) = due {
                self.fire(id, at, entry, pen);
                return true;
            }
            let deployment = self.deployments.get_mut(&id).expect("it was just found");
            deployment.derived.firing.remove(&at);
        }
    }

    /// Fires everything that is due, so that a change of the structure finds nothing half done.
    pub(crate) fn fire_all(&mut self, pen: &mut Pen<'_>) {
        let mut pen = Pen { now: pen.now, by: &Actor::Seaway, out: pen.out };
        let due = self.deployments.values().filter(|it| !it.derived.firing.is_empty());
        let ids: Vec<DeploymentId> = due.map(|it| it.id).collect();
        for id in ids {
            while self.fire_next(id, &mut pen) {}
        }
    }

    fn fire(&mut self, id: DeploymentId, at: Seq, entry: Entry, pen: &mut Pen<'_>) {
        let deployment = &self.deployments[&id];
        let trigger = self.world.trigger(entry).expect("it is due").clone();
        let (stage, sequence, _) = entry;
        let number = deployment.next_number(stage, sequence);
        let data = self.data_for(deployment, at, entry, &trigger);
        let refusal = match number {
            _ if data.len() > MAX_PAYLOAD => Some(Reason::TooMuchData),
            number if number > Refusal::MAX_RUNS => Some(Reason::TooManyRuns),
            _ => None,
        };
        let key = RunKey { stage, sequence, number };
        let draft = match refusal {
            None => {
                let detail = Detail::Triggered { on: Some(trigger), data: data.into() };
                let outcome = Some(Outcome::Pass);
                Draft { outcome, detail: Some(Box::new(detail)), ..Draft::new(Fact::Finished) }
            }
            Some(because) => {
                let n = deployment.refused + 1;
                let detail = Some(Box::new(Detail::Refused { on: trigger, because }));
                Draft { n, detail, ..Draft::new(Fact::Skipped) }
            }
        };
        self.trigger_run(id, key, Draft { cause: Some(at), ..draft }, pen);
    }

    /// Writes that a run was triggered.
    pub(crate) fn trigger_run(
        &mut self,
        id: DeploymentId,
        key: RunKey,
        draft: Draft,
        pen: &mut Pen<'_>,
    ) {
        let seq = self.head.next();
        let stage = self.targets.intern_part(self.world.stages.name(key.stage).as_str());
        let stage = self.targets.intern(TargetTable::ROOT, stage, seq);
        let run = format!("{}#{}", self.world.sequences.name(key.sequence), key.number);
        let part = self.targets.intern_part(&run);
        let target = self.targets.intern(stage, part, seq);
        self.emit_at(id, (target, Kind::SequenceTriggered), draft, pen);
    }

    /// What a run is given: the data of its cause, or of everything that a join waited for.
    fn data_for(
        &self,
        deployment: &Deployment,
        at: Seq,
        entry: Entry,
        trigger: &Trigger,
    ) -> String {
        let On::All(events) = &trigger.on else {
            return deployment.causes[&at].data.to_string();
        };
        let mut seen: Vec<(Seq, &Cause)> = events
            .iter()
            .filter_map(|event| self.joins(deployment, event, entry, trigger))
            .collect();
        seen.sort_by_key(|(at, _)| *at);
        let mut data = Value::Object(Default::default());
        for (_, cause) in seen {
            flow::merge(&mut data, Value::Object(object(&cause.data).unwrap_or_default()));
        }
        data.to_string()
    }
}

impl Deployment {
    /// The number of the next run of a sequence.
    pub(crate) fn next_number(&self, stage: u32, sequence: u32) -> u32 {
        self.numbers.get(&(stage, sequence)).map_or(1, |last| last + 1)
    }
}
