use seaway_kernel::Subscription;
use seaway_model::{ExecutorName, Name, Span};
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Entry, Fields, Node, Place, Shape, Value, joined, shown};

use super::reader::{MANY, Reader};
use crate::document::{Answer, Answers, Executor};

const EXECUTOR: Shape = Shape {
    what: "an executor",
    keys: &["name", "tasks", "takes", "delay", "answers", "replicas", "ttl"],
    old: &[],
};

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
        let (subscriptions, named): (Vec<_>, Vec<_>) = subscriptions?.into_iter().unzip();
        let answers = answers?;
        self.check_answers(&name, &subscriptions, &answers);
        Some(Executor {
            name,
            subscriptions,
            named,
            replicas: replicas?,
            delay: delay?,
            takes: takes?,
            ttl: ttl?,
            answers,
            place,
        })
    }

    /// Answers to what is never asked of it would be forgotten without a word.
    fn check_answers(
        &mut self,
        name: &ExecutorName,
        subscriptions: &[Subscription],
        answers: &Answers,
    ) {
        let Answers::ByTask(by_task) = answers else { return };
        for (address, _) in by_task {
            let done = |it: &Subscription| {
                let stage = address.stage.as_ref();
                let there = it.stages.is_empty() || stage.is_none_or(|at| it.stages.contains(at));
                it.task == address.task && there
            };
            if subscriptions.iter().any(done) {
                continue;
            }
            let mut tasks: Vec<&str> = subscriptions.iter().map(|it| it.task.as_str()).collect();
            tasks.dedup();
            let near = self.check.did_you_mean(address.task.as_str(), tasks.iter().copied());
            let message = format!("{name} does not do {}", shown(&address.to_string()));
            let draft = Draft::error(Code::UnknownTask, address.place, message);
            let near = near.filter(|_| !tasks.contains(&address.task.as_str()));
            let hint = joined(near, format!("its `tasks` are {}", tasks.join(", ")));
            self.check.push(draft.hint(hint));
        }
    }

    /// `nobody` keeps away the executor that is there for a task of nobody else.
    pub(super) fn check_nobody(&mut self, nobody: &[(Name, Place)], executors: &[Executor]) {
        for (task, place) in nobody {
            let does = |it: &&Executor| it.subscriptions.iter().any(|it| it.task == *task);
            let Some(executor) = executors.iter().find(does) else { continue };
            let message = format!("nobody is to do {task}, but {} does", executor.name);
            let draft = Draft::error(Code::WrongValue, *place, message);
            let draft = draft.also(executor.place, "it is here");
            self.check.push(draft.hint("remove one of them"));
        }
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

    fn executor_name(&mut self, node: &Node) -> Option<(ExecutorName, Place)> {
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
}
