use std::collections::BTreeMap;

use crate::document::When;
use crate::yaml::{Node, Value};

/// What the file has, before any of it is checked: a trigger may name what comes later.
#[derive(Debug, Default)]
pub(crate) struct Index {
    stages: BTreeMap<String, BTreeMap<String, Vec<Outlined>>>,
}

/// What is known of a task from the start.
#[derive(Clone, Debug)]
pub(crate) struct Outlined {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) when: When,
}

impl Index {
    /// `implicit` are the sequences that each stage has without saying so, and their only task.
    pub(crate) fn of(stages: &[Node], implicit: Option<&str>) -> Self {
        let mut index = Self::default();
        for stage in stages {
            let Some(name) = get(stage, "name").and_then(Node::text) else { continue };
            let sequences = index.stages.entry(name.to_owned()).or_default();
            for sequence in items(stage, "sequences") {
                let Some(name) = get(sequence, "name").and_then(Node::text) else { continue };
                let tasks = items(sequence, "tasks").iter().filter_map(Outlined::of);
                sequences.entry(name.to_owned()).or_default().extend(tasks);
            }
            if let Some(name) = implicit {
                let task = Outlined { name: name.to_owned(), id: None, when: When::Succeeded };
                sequences.entry(name.to_owned()).or_insert_with(|| vec![task]);
            }
        }
        index
    }

    pub(crate) fn has_stage(&self, stage: &str) -> bool {
        self.stages.contains_key(stage)
    }

    pub(crate) fn stages(&self) -> impl Iterator<Item = &str> {
        self.stages.keys().map(String::as_str)
    }

    pub(crate) fn sequences(&self, stage: &str) -> Vec<&str> {
        self.stages.get(stage).into_iter().flat_map(|it| it.keys().map(String::as_str)).collect()
    }

    /// The tasks of a sequence, in order.
    pub(crate) fn tasks(&self, stage: &str, sequence: &str) -> Option<&[Outlined]> {
        self.stages.get(stage)?.get(sequence).map(Vec::as_slice)
    }
}

impl Outlined {
    fn of(task: &Node) -> Option<Self> {
        let text = |key: &str| get(task, key).and_then(Node::text);
        // Another word is reported where the task is checked.
        let when = match text("when") {
            Some("failed") => When::Failed,
            Some("always") => When::Always,
            _ => When::Succeeded,
        };
        let id = text("id").map(str::to_owned);
        Some(Self { name: text("name")?.to_owned(), id, when })
    }
}

fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    match &node.value {
        Value::Map(entries) => entries.iter().find(|it| it.key.text == key).map(|it| &it.value),
        Value::Scalar(_) | Value::List(_) => None,
    }
}

fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    match get(node, key).map(|it| &it.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}
