use seaway_model::Name;
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Checker, Draft, Fields, Node, Value, joined, shown};
use serde_json::{Map, Value as Json};

use crate::document::{Place, Ship};

/// The most steps, executors and expectations of one scenario.
pub(super) const MANY: usize = 1_000;

/// Keys of steps and expectations that go with some of them only.
const BESIDE: [&str; 10] =
    ["as", "in", "service", "version", "stage", "data", "reason", "result", "because", "times"];

/// What every part of the reading needs.
#[derive(Debug)]
pub(super) struct Reader<'a, 'r> {
    pub(super) check: Checker<'a, 'r>,
    /// What is deployed where a step does not say.
    pub(super) service: Option<Name>,
    pub(super) executors: Vec<String>,
    pub(super) ships: Vec<Ship>,
}

impl<'a, 'r> Reader<'a, 'r> {
    pub(super) fn new(check: Checker<'a, 'r>) -> Self {
        Self { check, service: None, executors: Vec::new(), ships: Vec::new() }
    }
}

impl Reader<'_, '_> {
    /// Reports something that is named but is not there, with what is.
    pub(super) fn unknown(&mut self, what: &str, text: &str, place: Place, known: &[String]) {
        let near = self.check.did_you_mean(text, known.iter().map(String::as_str));
        let there = match known {
            [] => format!("there is no {what} at all"),
            known => format!("there are {}", known.join(", ")),
        };
        let message = format!("there is no {what} {}", shown(text));
        let draft = Draft::error(Code::WrongValue, place, message);
        self.check.push(draft.hint(joined(near, there)));
    }

    /// Reports keys that are of no use for what the others say.
    pub(super) fn check_beside(&mut self, fields: &Fields<'_>, main: &str, allowed: &[&str]) {
        for key in BESIDE.into_iter().filter(|key| !allowed.contains(key)) {
            if let Some(node) = fields.get(key) {
                let message = format!("`{key}` means nothing beside `{main}`");
                self.check.push(Draft::error(Code::UnknownKey, node.place, message));
            }
        }
    }

    /// A mapping that is passed on as JSON.
    pub(super) fn object(&mut self, node: &Node, what: &str) -> Option<Map<String, Json>> {
        let Value::Map(_) = &node.value else {
            let message = format!("{what} has to be a mapping, not {}", node.what());
            self.check.push(Draft::error(Code::WrongType, node.place, message));
            return None;
        };
        match node.json() {
            Ok(Json::Object(object)) => Some(object),
            Ok(_) => None,
            Err(not_json) => {
                let message = "data is passed on as JSON, which has no such number";
                let draft = Draft::error(Code::WrongValue, not_json.0, message);
                self.check.push(draft.hint("quote it, so that it is a text"));
                None
            }
        }
    }

    pub(super) fn data(&mut self, fields: &Fields<'_>) -> Option<Map<String, Json>> {
        match fields.get("data") {
            Some(node) => self.object(node, "`data`"),
            None => Some(Map::new()),
        }
    }

    /// A list of names, or one name, each with its place.
    pub(super) fn names(&mut self, node: &Node, what: &str) -> Option<Vec<(Name, Place)>> {
        let items = match &node.value {
            Value::List(items) => &items[..],
            _ => std::slice::from_ref(node),
        };
        let named = |node: &Node| Some((self.check.plain_name(node, what)?, node.place));
        items.iter().map(named).collect()
    }

    pub(super) fn task_names(&mut self, node: &Node) -> Option<Vec<(Name, Place)>> {
        let items = self.check.items(node, "nobody", (MANY, "tasks"))?;
        let name =
            |node: &Node| Some((self.check.plain_name(node, "the name of a task")?, node.place));
        items.iter().map(name).collect()
    }
}
