use seaway_model::{Name, Span};
use serde_json::{Map, Value as Json};

use crate::check::checker::Checker;
use crate::check::fields::{Fields, Shape};
use crate::check::sequence::PlacedTask;
use crate::code::Code;
use crate::document::{Retries, Task, When};
use crate::limits;
use crate::report::{Draft, Place};
use crate::yaml::{Node, Value};

const TASK: Shape = Shape {
    what: "a task",
    keys: &[
        "name",
        "id",
        "properties",
        "triggeredAfter",
        "timeout",
        "retries",
        "when",
        "scope",
        "ref",
    ],
    old: &[],
};

const RETRIES: Shape = Shape { what: "`retries`", keys: &["limit", "backoff"], old: &[] };

const WHEN: [(&str, When); 3] =
    [("succeeded", When::Succeeded), ("failed", When::Failed), ("always", When::Always)];

impl Checker<'_, '_> {
    pub(super) fn task(&mut self, node: &Node) -> Option<PlacedTask> {
        let fields = self.fields(node, &TASK)?;
        if let Some(node) = fields.get("ref") {
            self.no_reference(node);
            return None;
        }
        let name = self.task_name(&fields);
        let scope = match fields.get("scope") {
            Some(node) => self.service_only(node, "`scope`"),
            None => Some(()),
        };
        let id = match fields.get("id") {
            Some(node) => {
                let id = self.plain_name(node, "the id of a task");
                id.map(|id| Some((id, node.place)))
            }
            None => Some(None),
        };
        let properties = match fields.get("properties") {
            Some(node) => self.properties(node),
            None => Some(Map::new()),
        };
        let triggered_after = fields.get("triggeredAfter").and_then(|node| self.delay(node));
        let timeout = match fields.get("timeout") {
            Some(node) => self.duration(node, "`timeout`", limits::SHORTEST_TIMEOUT).map(Some),
            None => Some(None),
        };
        let retries = match fields.get("retries") {
            Some(node) => self.retries(node),
            None => Some(Retries::default()),
        };
        let when = match fields.get("when") {
            Some(node) => self.word(node, "`when`", &WHEN),
            None => Some(When::Succeeded),
        };
        scope?;
        let ((name, place), id) = (name?, id?);
        let task = Task {
            name,
            id: id.as_ref().map(|(id, _)| id.clone()),
            properties: properties?,
            triggered_after,
            timeout: timeout?,
            retries: retries?,
            when: when?,
        };
        Some(PlacedTask { task, name: place, id: id.map(|(_, place)| place) })
    }

    fn task_name(&mut self, fields: &Fields<'_>) -> Option<(Name, Place)> {
        let node = self.required(fields, "name")?;
        Some((self.plain_name(node, "the name of a task")?, node.place))
    }

    fn properties(&mut self, node: &Node) -> Option<Map<String, Json>> {
        let Value::Map(_) = &node.value else {
            let message = format!("`properties` has to be a mapping, not {}", node.what());
            self.push(Draft::error(Code::WrongType, node.place, message));
            return None;
        };
        match node.json() {
            Ok(Json::Object(properties)) => Some(properties),
            Ok(_) => None,
            Err(not_json) => {
                let message = "properties are passed on as JSON, which has no such number";
                let draft = Draft::error(Code::WrongValue, not_json.0, message);
                self.push(draft.hint("quote it, so that it is a text"));
                None
            }
        }
    }

    fn retries(&mut self, node: &Node) -> Option<Retries> {
        let fields = self.fields(node, &RETRIES)?;
        let limit = self
            .required(&fields, "limit")
            .and_then(|node| self.count(node, "`limit`", (0, limits::RETRIES)));
        let backoff = match fields.get("backoff") {
            Some(node) => self.duration(node, "`backoff`", Span(0)).map(Some),
            None => Some(None),
        };
        let (limit, backoff) = (limit?, backoff?);
        let default = if limit > 0 { limits::BACKOFF } else { Span(0) };
        Some(Retries { limit, backoff: backoff.unwrap_or(default) })
    }
}
