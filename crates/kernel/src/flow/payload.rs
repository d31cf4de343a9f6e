use std::sync::Arc;

use seaway_model::{Name, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::merge::merge;
use crate::structure::Task;

/// The most that the data of one run may add up to.
pub(crate) const MAX_PAYLOAD: usize = 1 << 20;

/// The data of one run: what it was triggered with, and what its tasks added, as they sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flow {
    trigger: Arc<str>,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Piece {
    task: u32,
    /// What a person put in before the task, rather than what the task added.
    edit: bool,
    text: Arc<str>,
}

/// What the control plane itself says in every message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) project: &'a Name,
    pub(crate) stage: &'a Name,
    pub(crate) service: &'a Name,
    pub(crate) version: &'a str,
}

impl Default for Flow {
    fn default() -> Self {
        Self::new("{}".into())
    }
}

impl Flow {
    pub(crate) fn new(trigger: Arc<str>) -> Self {
        Self { trigger, pieces: Vec::new() }
    }

    /// Bytes of everything in it.
    pub(crate) fn size(&self) -> usize {
        self.trigger.len() + self.pieces.iter().map(|piece| piece.text.len()).sum::<usize>()
    }

    pub(crate) fn add(&mut self, task: u32, text: &str) {
        self.pieces.push(Piece { task, edit: false, text: text.into() });
    }

    /// What a task was given in the space of its name stays there for the tasks after it.
    pub(crate) fn add_properties(&mut self, task: u32, definition: &Task) {
        if let Some(properties) = &definition.properties {
            self.add(task, &format!("{{\"{}\":{properties}}}", definition.name));
        }
    }

    pub(crate) fn edit(&mut self, task: u32, text: &str) {
        self.pieces.push(Piece { task, edit: true, text: text.into() });
    }

    /// What a task and those behind it added counts no longer.
    pub(crate) fn forget_from(&mut self, task: u32) {
        self.pieces.retain(|piece| piece.task < task || (piece.edit && piece.task == task));
    }

    /// Gives the memory back once nobody asks any more.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Everything that was there before a task: the trigger's data, then what was added, in order.
    fn before(&self, task: u32) -> Value {
        let mut data = Value::Object(object(&self.trigger).unwrap_or_default());
        let mut pieces: Vec<&Piece> = self
            .pieces
            .iter()
            .filter(|piece| piece.task < task || (piece.edit && piece.task == task))
            .collect();
        pieces.sort_by_key(|piece| (piece.task, !piece.edit));
        for piece in pieces {
            merge(&mut data, Value::Object(object(&piece.text).unwrap_or_default()));
        }
        data
    }

    /// The data of a task's message: with its properties in the space of its name, and how the task
    /// before it ended.
    pub(crate) fn of_task(
        &self,
        task: u32,
        definition: &Task,
        last: Option<Outcome>,
        scope: Scope<'_>,
    ) -> Value {
        let mut data = self.before(task);
        if let Some(last) = last {
            data["result"] = json!(last.as_str());
        }
        if data.get("message").is_some() {
            data["message"] = json!("");
        }
        let mut own = Map::new();
        let properties = definition.properties.as_deref().and_then(object).unwrap_or_default();
        own.insert(definition.name.to_string(), Value::Object(properties));
        merge(&mut data, Value::Object(own));
        scope.put(&mut data);
        data
    }

    /// The data that the run ends with, and that whatever it triggers starts with.
    pub(crate) fn at_end(&self, outcome: Outcome, scope: Scope<'_>) -> Value {
        let mut data = self.before(u32::MAX);
        scope.put(&mut data);
        data["result"] = json!(outcome.as_str());
        data
    }

    pub(crate) fn at_start(&self, scope: Scope<'_>) -> Value {
        let mut data = Value::Object(object(&self.trigger).unwrap_or_default());
        scope.put(&mut data);
        data
    }
}

impl Scope<'_> {
    pub(crate) fn put(self, data: &mut Value) {
        data["project"] = json!(self.project.as_str());
        data["stage"] = json!(self.stage.as_str());
        data["service"] = json!(self.service.as_str());
        data["version"] = json!(self.version);
    }
}

/// The text of a JSON object, read.
pub(crate) fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// What stands at a dotted path, as text. A key may itself have dots.
pub(crate) fn text_at(data: &Value, path: &str) -> Option<String> {
    if let Some(value) = data.get(path) {
        return match value {
            Value::String(text) => Some(text.clone()),
            Value::Object(_) | Value::Array(_) | Value::Null => None,
            other => Some(other.to_string()),
        };
    }
    let dots = path.match_indices('.').map(|(at, _)| at);
    dots.into_iter().find_map(|at| text_at(data.get(&path[..at])?, &path[at + 1..]))
}
