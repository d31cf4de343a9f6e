use seaway_model::Span;
use seaway_shipyard::Problems;
use seaway_shipyard::reading::{Checker, Node, Report, Shape, Subject, read};

use super::reader::Reader;
use crate::document::Scenario;

const SUBJECT: Subject = Subject { what: "scenario", begin: "steps:" };

const SCENARIO: Shape = Shape {
    what: "a scenario",
    keys: &["service", "executors", "nobody", "steps", "until", "expect"],
    old: &[],
};

/// Reads a scenario. `file` is how messages name it.
pub fn parse(text: &str, file: &str) -> Result<Scenario, Problems> {
    let mut report = Report::new(text);
    let scenario = read(text, SUBJECT, &mut report).and_then(|root| {
        let mut reader = Reader::new(Checker::strict(&mut report));
        reader.scenario(&root, text, file)
    });
    match scenario {
        Some(scenario) if !report.has_errors() => Ok(scenario),
        _ => Err(Problems::new(text, file, report.into_problems())),
    }
}

impl Reader<'_, '_> {
    fn scenario(&mut self, root: &Node, text: &str, file: &str) -> Option<Scenario> {
        let fields = self.check.fields(root, &SCENARIO)?;
        if let Some(node) = fields.get("service") {
            self.service = self.check.plain_name(node, "the name of a service");
        }
        // Steps name executors, and executors name the deployments of steps.
        self.executor_names(fields.get("executors"));
        let steps = self.check.required(&fields, "steps").and_then(|node| self.steps(node));
        let executors = self.optional(fields.get("executors"), Self::executors);
        let nobody = self.optional(fields.get("nobody"), Self::task_names);
        if let (Some(nobody), Some(executors)) = (&nobody, &executors) {
            self.check_nobody(nobody, executors);
        }
        let expect = self.optional(fields.get("expect"), Self::expectations);
        let until = match fields.get("until") {
            Some(node) => self.check.duration(node, "`until`", Span(0)).map(Some),
            None => Some(None),
        };
        Some(Scenario {
            text: text.to_owned(),
            file: file.to_owned(),
            executors: executors?,
            nobody: nobody?,
            ships: std::mem::take(&mut self.ships),
            steps: steps?,
            until: until?,
            expect: expect?,
        })
    }

    fn optional<T: Default>(
        &mut self,
        node: Option<&Node>,
        read: impl Fn(&mut Self, &Node) -> Option<T>,
    ) -> Option<T> {
        node.map_or_else(|| Some(T::default()), |node| read(self, node))
    }
}
