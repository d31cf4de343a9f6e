use std::collections::BTreeMap;

use crate::yaml::{Node, Value};

/// What the file has, before any of it is checked: a trigger may name what comes later.
#[derive(Debug, Default)]
pub(crate) struct Index {
    stages: BTreeMap<String, BTreeMap<String, Vec<String>>>,
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
                let tasks = items(sequence, "tasks").iter().flat_map(|task| {
                    ["name", "id"].into_iter().filter_map(|key| get(task, key).and_then(Node::text))
                });
                let tasks = tasks.map(str::to_owned);
                sequences.entry(name.to_owned()).or_default().extend(tasks);
            }
            if let Some(name) = implicit {
                sequences.entry(name.to_owned()).or_insert_with(|| vec![name.to_owned()]);
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

    /// The names and ids of the tasks of a sequence.
    pub(crate) fn tasks(&self, stage: &str, sequence: &str) -> Option<&[String]> {
        self.stages.get(stage)?.get(sequence).map(Vec::as_slice)
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
