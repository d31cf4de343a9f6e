use seaway_kernel::{Expression, Operator, Subscription};
use seaway_model::{ExecutorName, Span};
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Entry, Fields, Node, Shape, Value, shown};

use super::reader::{MANY, Reader};
use crate::document::{Answer, Answers, Executor};

const EXECUTOR: Shape = Shape {
    what: "an executor",
    keys: &["name", "tasks", "takes", "delay", "answers", "replicas", "ttl"],
    old: &[],
};

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

const TTL: Span = Span::from_secs(60);
const MAX_TTL: Span = Span::from_secs(24 * 60 * 60);

impl Reader<'_, '_> {
    /// The names of all executors, before anything else is read of them.
    pub(super) fn executor_names(&mut self, node: Option<&Node>) {
        let Some(Value::List(items)) = node.map(|node| &node.value) else { return };
        for item in items {
            let Value::Map(entries) = &item.value else { continue };
            let name = entries.iter().find(|Entry { key, .. }| key.text == "name");
            self.executors.extend(name.and_then(|entry| entry.value.text()).map(str::to_owned));
        }
    }

    pub(super) fn executors(&mut self, node: &Node) -> Option<Vec<Executor>> {
        let items = self.check.items(node, "executors", (MANY, "executors"))?;
        let all: Vec<Option<Executor>> = items.iter().map(|node| self.executor(node)).collect();
        let all: Option<Vec<Executor>> = all.into_iter().collect();
        let all = all?;
        for (index, executor) in all.iter().enumerate() {
            if let Some(first) = all[..index].iter().find(|it| it.name == executor.name) {
                let message = format!("there is already an executor `{}`", executor.name);
                let draft = Draft::error(Code::DuplicateName, executor.place, message);
                let hint = "several processes of one executor are `replicas: 2`";
                self.check.push(draft.also(first.place, "the first is here").hint(hint));
            }
        }
        Some(all)
    }

    fn executor(&mut self, node: &Node) -> Option<Executor> {
        let fields = self.check.fields(node, &EXECUTOR)?;
        let name = self.check.required(&fields, "name").and_then(|node| self.executor_name(node));
        let tasks = self.check.required(&fields, "tasks");
        let subscriptions = tasks.and_then(|node| self.subscriptions(node));
        let answers = match fields.get("answers") {
            Some(node) => self.answers(node),
            None => Some(Answers::InOrder(vec![Answer::pass()])),
        };
        let replicas = match fields.get("replicas") {
            Some(node) => self.check.count(node, "`replicas`", (1, 100)),
            None => Some(1),
        };
        let takes = self.span(&fields, "takes", (Span(0), Span(0)));
        let delay = self.span(&fields, "delay", (Span(0), Span(0)));
        let ttl = self.ttl(&fields);
        let (name, place) = name?;
        Some(Executor {
            name,
            subscriptions: subscriptions?,
            replicas: replicas?,
            delay: delay?,
            takes: takes?,
            ttl: ttl?,
            answers: answers?,
            place,
        })
    }

    fn span(&mut self, fields: &Fields<'_>, key: &str, bounds: (Span, Span)) -> Option<Span> {
        let (least, default) = bounds;
        match fields.get(key) {
            Some(node) => self.check.duration(node, &format!("`{key}`"), least),
            None => Some(default),
        }
    }

    fn ttl(&mut self, fields: &Fields<'_>) -> Option<Span> {
        let ttl = self.span(fields, "ttl", (Span::from_secs(1), TTL))?;
        if ttl > MAX_TTL {
            let place = fields.get("ttl").map_or(fields.place, |node| node.place);
            let message = "`ttl` can be 24 hours at most";
            self.check.push(Draft::error(Code::OutOfRange, place, message));
            return None;
        }
        Some(ttl)
    }

    fn executor_name(
        &mut self,
        node: &Node,
    ) -> Option<(ExecutorName, seaway_shipyard::reading::Place)> {
        let text = self.check.text(node, "the name of an executor")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if text.is_empty() || text.len() > 200 || !text.chars().all(plain) {
            let message = format!("{} cannot be the name of an executor", shown(text));
            let hint = "use up to 200 letters, digits, `-`, `_`, `.` and `/`";
            self.check.push(Draft::error(Code::InvalidName, node.place, message).hint(hint));
            return None;
        }
        Some((ExecutorName(text.into()), node.place))
    }

    fn subscriptions(&mut self, node: &Node) -> Option<Vec<Subscription>> {
        let items = self.check.items(node, "tasks", (MANY, "tasks"))?;
        if items.is_empty() {
            let message = "an executor needs at least one task";
            self.check.push(Draft::error(Code::Empty, node.place, message));
        }
        let all: Vec<_> = items.iter().map(|node| self.subscription(node)).collect();
        all.into_iter().collect()
    }

    fn subscription(&mut self, node: &Node) -> Option<Subscription> {
        let Value::Map(_) = &node.value else {
            let task = self.check.plain_name(node, "the name of a task")?;
            let (stages, services, expressions) = (Vec::new(), Vec::new(), Vec::new());
            return Some(Subscription { task, stages, services, expressions });
        };
        let fields = self.check.fields(node, &SUBSCRIPTION)?;
        let task = self.check.required(&fields, "task");
        let task = task.and_then(|node| self.check.plain_name(node, "the name of a task"));
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
        let (stages, services, expressions) = (stages?, services?, expressions?);
        Some(Subscription { task: task?, stages, services, expressions })
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
            Some(node) => {
                let items = self.check.items(node, "values", (MANY, "values"))?;
                let all: Vec<Option<Box<str>>> = items
                    .iter()
                    .map(|node| self.check.text(node, "a value").map(Into::into))
                    .collect();
                all.into_iter().collect()
            }
            None => Some(Vec::new()),
        };
        Some(Expression { key: key?.into(), operator: operator?, values: values? })
    }
}
