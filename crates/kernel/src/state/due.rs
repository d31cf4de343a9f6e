use std::cell::OnceCell;

use seaway_model::Seq;
use seaway_model::planted::{Bug, planted};
use serde_json::Value;

use super::cause::{Cause, Happened};
use super::deployment::Deployment;
use super::spot::RunKey;
use super::world::World;
use crate::flow::{object, text_at};
use crate::structure::{Event, On, Trigger};

/// An entry of a sequence: stage, sequence, position.
pub(crate) type Entry = (u32, u32, u32);

/// Something that happened, with its data read at most once however many entries ask for it.
pub(crate) struct Seen<'a> {
    at: Seq,
    pub(crate) cause: &'a Cause,
    data: OnceCell<Value>,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(at: Seq, cause: &'a Cause) -> Self {
        Self { at, cause, data: OnceCell::new() }
    }

    fn data(&self) -> &Value {
        let read = || Value::Object(object(&self.cause.data).unwrap_or_default());
        self.data.get_or_init(read)
    }
}

impl World {
    /// The events of the newest structure that a cause is.
    fn events_of(&self, cause: &Cause) -> Vec<Event> {
        match &cause.event {
            Happened::Finished(run) => {
                let stage = self.stages.name(run.stage).clone();
                let sequence = self.sequences.name(run.sequence).clone();
                vec![Event::Finished { stage, sequence }]
            }
            Happened::Received { name, stage } => {
                let qualified = stage.as_ref().map(|stage| format!("{stage}.{name}").into());
                let names = [Some(name.clone()), qualified];
                names.into_iter().flatten().map(Event::Domain).collect()
            }
        }
    }

    /// The entries that name what happened, each once.
    pub(crate) fn entries(&self, cause: &Cause) -> Vec<Entry> {
        let events = self.events_of(cause);
        let known = events.iter().filter_map(|event| self.triggers.get(event));
        let mut entries: Vec<Entry> = known.flatten().copied().collect();
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    /// Whether an entry names what happened.
    pub(crate) fn names(&self, cause: &Cause, trigger: &Trigger) -> bool {
        let events = self.events_of(cause);
        trigger.events().iter().any(|event| events.contains(event))
    }

    /// Whether a join names what happened.
    pub(crate) fn is_joined(&self, cause: &Cause) -> bool {
        let entries = self.entries(cause);
        let mut triggers = entries.into_iter().filter_map(|entry| self.trigger(entry));
        triggers.any(|trigger| matches!(trigger.on, On::All(_)))
    }

    /// Whether an entry is in the stage where something happened, if anybody said where.
    pub(crate) fn is_here(&self, cause: &Cause, (stage, _, _): Entry) -> bool {
        match &cause.event {
            Happened::Received { stage: Some(at), .. } => at == self.stages.name(stage),
            _ => true,
        }
    }

    /// Whether an entry takes what happened.
    pub(crate) fn takes(&self, seen: &Seen<'_>, entry: Entry, trigger: &Trigger) -> bool {
        if !self.is_here(seen.cause, entry) {
            return false;
        }
        let selector = &trigger.selector;
        if !selector.takes(seen.cause.outcome, seen.cause.last_task.as_ref()) {
            return false;
        }
        selector.data.iter().all(|(path, _)| {
            let found = text_at(seen.data(), path);
            let mut same = selector.data.iter().filter(|(it, _)| it == path);
            same.any(|(_, text)| found.as_deref() == Some(text))
        })
    }
}

/// What happened to a deployment, and what of it counts.
impl Deployment {
    /// The entries that a cause still has to fire.
    pub(crate) fn dues(&self, world: &World, at: Seq) -> Vec<Entry> {
        let Some(cause) = self.causes.get(&at).filter(|cause| cause.open) else {
            return Vec::new();
        };
        let seen = Seen::new(at, cause);
        let mut due = world.entries(cause);
        due.retain(|entry| {
            world.trigger(*entry).is_some_and(|trigger| {
                let fired = cause.fired.contains(&(entry.0, entry.1, trigger.clone()));
                !fired && self.derives(world, &seen, *entry, trigger)
            })
        });
        due
    }

    /// Whether an entry takes what happened; a join, whether it is the last of what it waits for.
    pub(crate) fn derives(
        &self,
        world: &World,
        seen: &Seen<'_>,
        entry: Entry,
        trigger: &Trigger,
    ) -> bool {
        if !world.takes(seen, entry, trigger) {
            return false;
        }
        match &trigger.on {
            On::Event(_) => true,
            On::All(events) => {
                events.iter().skip(planted(Bug::JoinIncomplete).into()).all(|event| {
                    let newest = self.joins(world, event, entry, trigger);
                    newest.is_some_and(|(newest, _)| newest <= seen.at)
                })
            }
        }
    }

    /// The newest cause that is one event of a join, since the join last fired.
    pub(crate) fn joins<'a>(
        &'a self,
        world: &World,
        event: &Event,
        entry: Entry,
        trigger: &Trigger,
    ) -> Option<(Seq, &'a Cause)> {
        let join = (entry.0, entry.1, trigger.clone());
        let fired = self.joined.get(&join).copied();
        let known = world.join_since.get(&join).copied();
        let from = fired.max(known).map_or(Seq(0), Seq::next);
        let mut causes = self.causes.range(from..).rev();
        causes
            .find(|(at, cause)| {
                world.events_of(cause).contains(event)
                    && world.takes(&Seen::new(**at, cause), entry, trigger)
            })
            .map(|(at, cause)| (*at, cause))
    }

    /// Which events a join still waits for; none if it has seen nothing yet.
    pub(crate) fn missing(&self, world: &World, entry: Entry) -> Option<Vec<Event>> {
        let trigger = world.trigger(entry)?;
        let On::All(events) = &trigger.on else { return None };
        let missing =
            events.iter().filter(|event| self.joins(world, event, entry, trigger).is_none());
        let missing: Vec<Event> = missing.cloned().collect();
        (missing.len() < events.len()).then_some(missing)
    }

    /// Forgets what happened and is of no use any more: it has nothing to fire, every run that it
    /// started has begun, and no join counts it.
    pub(crate) fn prune_causes(&mut self, world: &World) {
        let useless = self.causes.iter().filter(|(at, cause)| !self.is_useful(world, **at, cause));
        let useless: Vec<Seq> = useless.map(|(at, _)| *at).collect();
        useless.into_iter().for_each(|at| {
            self.causes.remove(&at);
        });
    }

    fn is_useful(&self, world: &World, at: Seq, cause: &Cause) -> bool {
        self.derived.firing.contains_key(&at)
            || cause.runs.iter().any(|key| self.may_be_withdrawn(*key))
            || self.is_counted(world, at, cause)
    }

    /// Whether a join has seen this, and nothing newer in its place.
    fn is_counted(&self, world: &World, at: Seq, cause: &Cause) -> bool {
        let events = world.events_of(cause);
        let entries = world.entries(cause);
        let mut named = entries.iter().filter_map(|entry| Some((*entry, world.trigger(*entry)?)));
        named.any(|(entry, trigger)| match &trigger.on {
            On::Event(_) => false,
            On::All(wanted) => wanted.iter().filter(|event| events.contains(event)).any(|event| {
                let newest = self.joins(world, event, entry, trigger);
                newest.is_some_and(|(newest, _)| newest == at)
            }),
        })
    }

    fn may_be_withdrawn(&self, key: RunKey) -> bool {
        let run = self.runs.get(&key);
        run.is_some_and(|run| !run.pinned && !run.withdrawn && !run.finish().is_settled())
    }
}
