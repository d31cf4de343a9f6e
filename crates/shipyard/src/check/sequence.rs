use std::collections::BTreeMap;

use seaway_model::Name;

use crate::check::checker::Checker;
use crate::check::fields::Shape;
use crate::check::name::Given;
use crate::code::Code;
use crate::document::{Scope, Sequence, Task};
use crate::limits;
use crate::report::{Draft, Place};
use crate::yaml::Node;

const SEQUENCE: Shape = Shape {
    what: "a sequence",
    keys: &["name", "scope", "triggeredOn", "tasks", "timeout", "batch"],
    old: &[("triggered-on", "triggeredOn")],
};

impl Checker<'_, '_> {
    /// `stage` is missing where the name of its stage is wrong.
    pub(super) fn sequence(
        &mut self,
        node: &Node,
        stage: Option<&Name>,
        given: &mut Given,
    ) -> Option<Sequence> {
        let fields = self.fields(node, &SEQUENCE)?;
        let name = self.required(&fields, "name").and_then(|node| {
            let name = self.plain_name(node, "the name of a sequence")?;
            self.unique(given, &name, node.place, "a sequence in this stage with the name");
            Some(name)
        });
        let scope = match fields.get("scope") {
            Some(node) => self.service_only(node, "`scope`").map(|()| Scope::Service),
            None => Some(Scope::Service),
        };
        let triggered_on = match fields.get("triggeredOn") {
            Some(node) => self.triggers(node, stage.cloned().zip(name.clone())),
            None => Some(Vec::new()),
        };
        let tasks = self.required(&fields, "tasks").and_then(|node| self.tasks(node));
        let timeout = match fields.get("timeout") {
            Some(node) => self.duration(node, "`timeout`", limits::SHORTEST_TIMEOUT).map(Some),
            None => Some(None),
        };
        let batch = match fields.get("batch") {
            Some(node) => self.task_range(node, tasks.as_deref()),
            None => Some(None),
        };
        Some(Sequence {
            name: name?,
            scope: scope?,
            triggered_on: triggered_on?,
            tasks: tasks?,
            timeout: timeout?,
            batch: batch?,
        })
    }

    fn tasks(&mut self, node: &Node) -> Option<Vec<Task>> {
        let nodes = self.items(node, "tasks", (limits::TASKS, "tasks in this sequence"))?;
        if nodes.is_empty() {
            self.push(Draft::error(Code::Empty, node.place, "a sequence needs at least one task"));
            return None;
        }
        let tasks: Vec<_> = nodes.iter().map(|node| self.task(node)).collect();
        self.identities(&tasks);
        tasks.into_iter().map(|task| Some(task?.task)).collect()
    }

    /// A task is known by its id, or by its name where it has none: nothing may answer to both.
    fn identities(&mut self, tasks: &[Option<PlacedTask>]) {
        let tasks: Vec<&PlacedTask> = tasks.iter().flatten().collect();
        let mut names: BTreeMap<&Name, Place> = BTreeMap::new();
        for it in tasks.iter().filter(|it| it.task.id.is_none()) {
            names.entry(&it.task.name).or_insert(it.name);
        }
        let mut given = Given::new();
        for it in tasks {
            let (Some(id), Some(place)) = (&it.task.id, it.id) else { continue };
            if let Some(first) = names.get(id) {
                let message = format!("the id `{id}` is also the name of a task without an id");
                let draft = Draft::error(Code::DuplicateName, place, message);
                self.push(draft.also(*first, "the task is here"));
            } else {
                self.unique(&mut given, id, place, "a task in this sequence with the id");
            }
        }
    }
}

/// A task, and where its names were written.
#[derive(Debug)]
pub(super) struct PlacedTask {
    pub(super) task: Task,
    pub(super) name: Place,
    pub(super) id: Option<Place>,
}
