use seaway_model::Name;

use crate::check::checker::Checker;
use crate::check::fields::{Fields, Shape};
use crate::code::Code;
use crate::document::{Event, On, Selector, Trigger};
use crate::limits;
use crate::report::{Draft, Place};
use crate::yaml::{Node, Value};

const TRIGGER: Shape =
    Shape { what: "an entry of `triggeredOn`", keys: &["event", "all", "selector"], old: &[] };

impl Checker<'_, '_> {
    /// `of` is the sequence that is triggered, if its names are right.
    pub(super) fn triggers(
        &mut self,
        node: &Node,
        of: Option<(Name, Name)>,
    ) -> Option<Vec<Trigger>> {
        let nodes =
            self.items(node, "triggeredOn", (limits::TRIGGERS, "triggers of this sequence"))?;
        let mut triggers: Vec<(Trigger, Place)> = Vec::new();
        let mut complete = true;
        for node in nodes {
            let Some(trigger) = self.trigger(node) else {
                complete = false;
                continue;
            };
            if let Some(of) = &of {
                self.follows.note(&trigger, of, event_place(node));
            }
            if let Some((_, first)) = triggers.iter().find(|(before, _)| *before == trigger) {
                let message = "the sequence is already triggered on this, and would run twice";
                let draft = Draft::warning(Code::DuplicateTrigger, node.place, message);
                self.push(draft.also(*first, "the first is here").hint("remove one of them"));
            }
            triggers.push((trigger, node.place));
        }
        complete.then(|| triggers.into_iter().map(|(trigger, _)| trigger).collect())
    }

    fn trigger(&mut self, node: &Node) -> Option<Trigger> {
        if let Value::Scalar(_) = &node.value {
            let event = self.event(node)?;
            return Some(Trigger { on: On::Any(event), selector: Selector::default() });
        }
        let fields = self.fields(node, &TRIGGER)?;
        let on = self.on(&fields);
        let selector = match fields.get("selector") {
            Some(node) => self.selector(node, on.as_ref()),
            None => Some(Selector::default()),
        };
        Some(Trigger { on: on?, selector: selector? })
    }

    fn on(&mut self, fields: &Fields<'_>) -> Option<On> {
        match (fields.get("event"), fields.get("all")) {
            (Some(event), None) => self.event(event).map(On::Any),
            (None, Some(all)) => self.joined_events(all).map(On::All),
            (Some(_), Some(all)) => {
                let message = "an entry has either `event` or `all`, not both";
                let draft = Draft::error(Code::WrongValue, all.place, message);
                self.push(draft.hint("write two entries, if either is to trigger the sequence"));
                None
            }
            (None, None) => {
                let message = "an entry of `triggeredOn` needs an `event`, or `all` with a list";
                self.push(Draft::error(Code::MissingKey, fields.place, message));
                None
            }
        }
    }

    fn joined_events(&mut self, node: &Node) -> Option<Vec<Event>> {
        let nodes = self.items(node, "all", (limits::JOINED, "events in this `all`"))?;
        if nodes.len() < 2 {
            let message = "`all` needs at least two events";
            let draft = Draft::error(Code::OutOfRange, node.place, message);
            self.push(draft.hint("write `event` for a single one"));
            return None;
        }
        let mut events: Vec<(Event, Place)> = Vec::new();
        let mut complete = true;
        for node in nodes {
            let Some(event) = self.event(node) else {
                complete = false;
                continue;
            };
            if let Some((_, first)) = events.iter().find(|(before, _)| *before == event) {
                let message = "this event is already part of `all`";
                let draft = Draft::error(Code::DuplicateTrigger, node.place, message);
                self.push(draft.also(*first, "the first is here"));
            }
            events.push((event, node.place));
        }
        complete.then(|| events.into_iter().map(|(event, _)| event).collect())
    }
}

/// Where an entry names its event.
fn event_place(node: &Node) -> Place {
    match &node.value {
        Value::Map(entries) => {
            let event = entries.iter().find(|it| it.key.text == "event");
            event.map_or(node.place, |it| it.value.place)
        }
        Value::Scalar(_) | Value::List(_) => node.place,
    }
}
