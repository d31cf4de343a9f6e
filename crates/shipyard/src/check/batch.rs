use crate::check::checker::{Checker, joined, shown};
use crate::check::fields::{Fields, Shape};
use crate::code::Code;
use crate::document::{Batch, Policy, Task, TaskRange};
use crate::limits;
use crate::report::Draft;
use crate::yaml::Node;

const OF_STAGE: Shape = Shape {
    what: "the `batch` of a stage",
    keys: &["policy", "capacity", "maxReplaced"],
    old: &[],
};

const OF_SEQUENCE: Shape = Shape {
    what: "the `batch` of a sequence",
    keys: &["from", "to", "policy", "capacity", "maxReplaced"],
    old: &[],
};

const DEFAULT: Batch = Batch { capacity: 1, policy: Policy::Queue };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Queue,
    Supersede,
    Parallel,
}

const POLICIES: [(&str, Word); 3] =
    [("queue", Word::Queue), ("supersede", Word::Supersede), ("parallel", Word::Parallel)];

/// Which of several tasks with the same name is meant.
#[derive(Clone, Copy, Debug)]
enum Occurrence {
    First,
    Last,
}

impl Checker<'_, '_> {
    /// `Some(None)` where it is switched off.
    pub(super) fn batch(&mut self, node: &Node) -> Option<Option<Batch>> {
        match node.text() {
            Some("true") => return Some(Some(DEFAULT)),
            Some("false") => return Some(None),
            _ => {}
        }
        let fields = self.rules(node, &OF_STAGE)?;
        self.policy(&fields).map(Some)
    }

    /// `tasks` are missing where one of them is wrong, and then only the rest is checked.
    pub(super) fn task_range(
        &mut self,
        node: &Node,
        tasks: Option<&[Task]>,
    ) -> Option<Option<TaskRange>> {
        let (batch, from, to) = match node.text() {
            Some("false") => return Some(None),
            Some("true") => (Some(DEFAULT), None, None),
            _ => {
                let fields = self.rules(node, &OF_SEQUENCE)?;
                (self.policy(&fields), fields.get("from"), fields.get("to"))
            }
        };
        let tasks = tasks?;
        let first = match from {
            Some(node) => self.task_position(node, "from", tasks, Occurrence::First),
            None => Some(0),
        };
        let last = match to {
            Some(node) => self.task_position(node, "to", tasks, Occurrence::Last),
            None => Some(tasks.len().saturating_sub(1)),
        };
        let (first, last) = (first?, last?);
        if first > last {
            let message = "the batch would end before it begins";
            let place = to.map_or(node.place, |to| to.place);
            let draft = Draft::error(Code::TaskOrder, place, message);
            self.push(draft.hint("`to` has to name the task of `from`, or one after it"));
            return None;
        }
        // Positions are below the limit of tasks.
        Some(Some(TaskRange { first: first as u32, last: last as u32, batch: batch? }))
    }

    fn rules<'n>(&mut self, node: &'n Node, shape: &Shape) -> Option<Fields<'n>> {
        let Some(text) = node.text() else { return self.fields(node, shape) };
        let message = format!("{} cannot be {}", shape.what, shown(text));
        let hint = format!("write `true`, or a mapping with {}", shape.keys.join(", "));
        self.push(Draft::error(Code::WrongValue, node.place, message).hint(hint));
        None
    }

    fn task_position(
        &mut self,
        node: &Node,
        key: &str,
        tasks: &[Task],
        which: Occurrence,
    ) -> Option<usize> {
        let text = self.text(node, &format!("`{key}`"))?;
        let is = |task: &Task| {
            task.name.as_str() == text || task.id.as_ref().is_some_and(|id| id.as_str() == text)
        };
        let found = match which {
            Occurrence::First => tasks.iter().position(is),
            Occurrence::Last => tasks.iter().rposition(is),
        };
        if found.is_none() {
            let names = tasks.iter().map(|task| task.name.as_str());
            let near = self.did_you_mean(text, names);
            let message = format!("there is no task {} in this sequence", shown(text));
            let hint = joined(near, "write the name or the id of one of its tasks");
            self.push(Draft::error(Code::UnknownTask, node.place, message).hint(hint));
        }
        found
    }

    fn policy(&mut self, fields: &Fields<'_>) -> Option<Batch> {
        let word = match fields.get("policy") {
            Some(node) => self.word(node, "`policy`", &POLICIES),
            None => Some(Word::Queue),
        };
        let capacity = match fields.get("capacity") {
            Some(node) => self.count(node, "`capacity`", (1, limits::CAPACITY)),
            None => Some(DEFAULT.capacity),
        };
        let replaced = match fields.get("maxReplaced") {
            Some(node) => {
                if word.is_some_and(|word| word != Word::Supersede) {
                    let message = "`maxReplaced` has no effect without `policy: supersede`";
                    let draft = self.oddity(Code::WrongValue, node.place, message.to_owned());
                    self.push(draft.hint("remove it, or write `policy: supersede`"));
                }
                self.count(node, "`maxReplaced`", (1, limits::REPLACED))
            }
            None => Some(limits::DEFAULT_REPLACED),
        };
        let (word, capacity, max_replaced) = (word?, capacity?, replaced?);
        let policy = match word {
            Word::Queue => Policy::Queue,
            Word::Supersede => Policy::Supersede { max_replaced },
            Word::Parallel => Policy::Parallel,
        };
        Some(Batch { capacity, policy })
    }
}
