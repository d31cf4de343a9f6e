use seaway_api::{Expression, Operator, Subscription};
use seaway_model::Name;
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Fields, Node, Shape};

use crate::definition::check::{PARTS, Reader};

const EXPRESSION: Shape =
    Shape { what: "an expression", keys: &["key", "operator", "values"], old: &[] };

const OPERATORS: [(&str, Operator); 4] = [
    ("In", Operator::In),
    ("NotIn", Operator::NotIn),
    ("Exists", Operator::Exists),
    ("DoesNotExist", Operator::DoesNotExist),
];

/// The longest key or value of an expression.
const CHARS: usize = 200;

impl Reader<'_, '_> {
    pub(super) fn subscription(&mut self, spec: &Fields<'_>) -> Option<Subscription> {
        let task = self.check.required(spec, "task");
        let task = task.and_then(|node| self.check.plain_name(node, "the name of a task"));
        let stages = self.names(spec, "stages", "the name of a stage");
        let services = self.names(spec, "services", "the name of a service");
        let expressions = match spec.get("matchExpressions") {
            Some(node) => self.expressions(node),
            None => Some(Vec::new()),
        };
        Some(Subscription {
            task: task?.into(),
            stages: stages?,
            services: services?,
            match_expressions: expressions?,
        })
    }

    fn names(&mut self, spec: &Fields<'_>, key: &str, what: &str) -> Option<Vec<String>> {
        let Some(node) = spec.get(key) else { return Some(Vec::new()) };
        let items = self.check.items(node, key, (PARTS, key))?;
        let all: Vec<Option<String>> = items.iter().map(|node| self.name(node, what)).collect();
        all.into_iter().collect()
    }

    /// Services may have dots in their names.
    fn name(&mut self, node: &Node, what: &str) -> Option<String> {
        let text = self.check.text(node, what)?;
        if let Err(error) = Name::new(text) {
            self.check.push(Draft::error(Code::InvalidName, node.place, error.to_string()));
            return None;
        }
        Some(text.to_owned())
    }

    fn expressions(&mut self, node: &Node) -> Option<Vec<Expression>> {
        let items = self.check.items(node, "matchExpressions", (PARTS, "expressions"))?;
        let all: Vec<Option<Expression>> = items.iter().map(|node| self.expression(node)).collect();
        all.into_iter().collect()
    }

    fn expression(&mut self, node: &Node) -> Option<Expression> {
        let fields = self.check.fields(node, &EXPRESSION)?;
        let key = self.check.required(&fields, "key");
        let key = key.and_then(|node| self.short(node, "`key`"));
        let operator = self.check.required(&fields, "operator");
        let operator = operator.and_then(|node| self.check.word(node, "`operator`", &OPERATORS));
        let values = match fields.get("values") {
            Some(node) => self.values(node),
            None => Some(Vec::new()),
        };
        let (key, operator, values) = (key?, operator?, values?);
        let listed = matches!(operator, Operator::In | Operator::NotIn);
        if listed == values.is_empty() {
            let (message, hint) = match listed {
                true => ("the operator needs `values`", "write `values: [...]`, or `Exists`"),
                false => ("the operator takes no `values`", "remove them, or write `In`"),
            };
            self.check.push(Draft::error(Code::WrongValue, fields.place, message).hint(hint));
            return None;
        }
        Some(Expression { key, operator, values })
    }

    fn values(&mut self, node: &Node) -> Option<Vec<String>> {
        let items = self.check.items(node, "values", (PARTS, "values"))?;
        let all: Vec<Option<String>> =
            items.iter().map(|node| self.short(node, "a value")).collect();
        all.into_iter().collect()
    }

    fn short(&mut self, node: &Node, what: &str) -> Option<String> {
        let text = self.check.text(node, what)?;
        if text.is_empty() || text.chars().count() > CHARS {
            let message = format!("{what} has 1 to {CHARS} characters");
            self.check.push(Draft::error(Code::OutOfRange, node.place, message));
            return None;
        }
        Some(text.to_owned())
    }
}
