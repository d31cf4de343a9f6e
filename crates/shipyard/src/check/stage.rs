use seaway_model::Name;
use serde_json::Map;

use crate::check::checker::Checker;
use crate::check::fields::Shape;
use crate::check::name::Given;
use crate::document::{Dialect, Retries, Scope, Sequence, Stage, Task, When};
use crate::limits;
use crate::yaml::Node;

/// The sequence that every stage of a Keptn file has, and its only task.
pub(super) const EVALUATION: &str = "evaluation";

const STAGE: Shape = Shape { what: "a stage", keys: &["name", "sequences", "batch"], old: &[] };

impl Checker<'_, '_> {
    pub(super) fn stages(&mut self, nodes: &[Node]) -> Option<Vec<Stage>> {
        let mut given = Given::new();
        // Every stage is looked at, also behind one that is wrong.
        let stages: Vec<_> = nodes.iter().map(|node| self.stage(node, &mut given)).collect();
        stages.into_iter().collect()
    }

    fn stage(&mut self, node: &Node, given: &mut Given) -> Option<Stage> {
        let fields = self.fields(node, &STAGE)?;
        let name = self.required(&fields, "name").and_then(|node| {
            let name = self.stage_name(node)?;
            self.unique(given, &name, node.place, "a stage");
            Some(name)
        });
        let batch = match fields.get("batch") {
            Some(node) => self.batch(node),
            None => Some(None),
        };
        let sequences = match fields.get("sequences") {
            Some(node) => self.sequences(node, name.as_ref()),
            None => Some(Vec::new()),
        };
        let mut sequences = sequences?;
        let declared = sequences.iter().any(|it| it.name.as_str() == EVALUATION);
        if self.dialect == Dialect::Keptn && !declared {
            sequences.push(evaluation());
        }
        Some(Stage { name: name?, batch: batch?, sequences })
    }

    fn sequences(&mut self, node: &Node, stage: Option<&Name>) -> Option<Vec<Sequence>> {
        let nodes =
            self.items(node, "sequences", (limits::SEQUENCES, "sequences in this stage"))?;
        let mut given = Given::new();
        let sequences: Vec<_> =
            nodes.iter().map(|node| self.sequence(node, stage, &mut given)).collect();
        sequences.into_iter().collect()
    }
}

/// What a stage of a Keptn file has without saying so.
pub(crate) fn evaluation() -> Sequence {
    let name = Name::new(EVALUATION).expect("it is made of letters");
    let task = Task {
        name: name.clone(),
        id: None,
        properties: Map::new(),
        triggered_after: None,
        timeout: None,
        retries: Retries::default(),
        when: When::Succeeded,
    };
    Sequence {
        name,
        scope: Scope::Service,
        triggered_on: Vec::new(),
        tasks: vec![task],
        timeout: None,
        batch: None,
    }
}
