use seaway_kernel::{Expression, Operator, Subscription};
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Fields, Node, Shape, Value};

use super::reader::{MANY, Reader};
use crate::document::Named;

const SUBSCRIPTION: Shape = Shape {
    what: "a task of an executor",
    keys: &["task", "stages", "services", "match"],
    old: &[],
};

const EXPRESSION: Shape =
    Shape { what: "an entry of `match`", keys: &["key", "operator", "values"], old: &[] };

const OPERATORS: [(&str, Operator); 4] = [
    ("In", Operator::In),
    ("NotIn", Operator::NotIn),
    ("Exists", Operator::Exists),
    ("DoesNotExist", Operator::DoesNotExist),
];

impl Reader<'_, '_> {
    pub(super) fn subscriptions(&mut self, node: &Node) -> Option<Vec<(Subscription, Named)>> {
        let items = self.check.items(node, "tasks", (MANY, "tasks"))?;
        if items.is_empty() {
            let message = "an executor needs at least one task";
            self.check.push(Draft::error(Code::Empty, node.place, message));
        }
        let all: Vec<_> = items.iter().map(|node| self.subscription(node)).collect();
        all.into_iter().collect()
    }

    fn subscription(&mut self, node: &Node) -> Option<(Subscription, Named)> {
        let Value::Map(_) = &node.value else {
            let task = self.check.plain_name(node, "the name of a task")?;
            let (stages, services, expressions) = (Vec::new(), Vec::new(), Vec::new());
            let named = Named { task: node.place, stages: Vec::new() };
            return Some((Subscription { task, stages, services, expressions }, named));
        };
        let fields = self.check.fields(node, &SUBSCRIPTION)?;
        let task = self.check.required(&fields, "task");
        let task = task.and_then(|node| {
            Some((self.check.plain_name(node, "the name of a task")?, node.place))
        });
        let mut names = |key: &str, what: &str| match fields.get(key) {
            Some(node) => self.names(node, what),
            None => Some(Vec::new()),
        };
        let stages = names("stages", "the name of a stage");
        let services = names("services", "the name of a service");
        let expressions = match fields.get("match") {
            Some(node) => {
                let items = self.check.items(node, "match", (MANY, "expressions"))?;
                let all: Vec<_> = items.iter().map(|node| self.expression(node)).collect();
                all.into_iter().collect()
            }
            None => Some(Vec::new()),
        };
        let ((task, place), services, expressions) = (task?, services?, expressions?);
        let (stages, places) = stages?.into_iter().unzip();
        let services = services.into_iter().map(|(name, _)| name).collect();
        let named = Named { task: place, stages: places };
        Some((Subscription { task, stages, services, expressions }, named))
    }

    fn expression(&mut self, node: &Node) -> Option<Expression> {
        let fields = self.check.fields(node, &EXPRESSION)?;
        let key = self.check.required(&fields, "key");
        let key = key.and_then(|node| self.check.text(node, "`key`"));
        let operator = match fields.get("operator") {
            Some(node) => self.check.word(node, "`operator`", &OPERATORS),
            None => Some(Operator::In),
        };
        let values = match fields.get("values") {
            Some(node) => self.values(node),
            None => Some(Vec::new()),
        };
        let (operator, values) = (operator?, values?);
        if values.is_empty() {
            self.check_no_values(&fields, operator);
        }
        Some(Expression { key: key?.into(), operator, values })
    }

    fn values(&mut self, node: &Node) -> Option<Vec<Box<str>>> {
        let items = self.check.items(node, "values", (MANY, "values"))?;
        let value = |node: &Node| self.check.text(node, "a value").map(Into::into);
        let all: Vec<Option<Box<str>>> = items.iter().map(value).collect();
        all.into_iter().collect()
    }

    /// Nothing is in an empty list, and everything is not in it.
    fn check_no_values(&mut self, fields: &Fields<'_>, operator: Operator) {
        let (word, what) = match operator {
            Operator::In => ("In", "nothing"),
            Operator::NotIn => ("NotIn", "everything"),
            Operator::Exists | Operator::DoesNotExist => return,
        };
        let place = fields.get("values").or(fields.get("operator"));
        let place = place.map_or(fields.place, |node| node.place);
        let message = format!("`{word}` without `values` takes {what}");
        let draft = Draft::error(Code::MissingKey, place, message);
        self.check.push(draft.hint("write `values: [...]`, or `operator: Exists`"));
    }
}
