use std::fmt;

use seaway_kernel::Subscription;
use seaway_model::{ExecutorName, Name, Outcome, Span};
pub use seaway_shipyard::reading::Place;
use serde_json::{Map, Value};

/// Who is there, what happens, and what should come of it.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) text: String,
    pub(crate) file: String,
    pub executors: Vec<Executor>,
    /// Tasks that nobody does.
    pub nobody: Vec<(Name, Place)>,
    /// The deployments that its steps name, in order of their first step.
    pub ships: Vec<Ship>,
    /// In order of time.
    pub steps: Vec<Step>,
    /// When to stop at the latest, from the start.
    pub until: Option<Span>,
    pub expect: Vec<Expectation>,
}

impl Scenario {
    /// The other shipyards that its steps apply, as they name them.
    pub fn shipyards(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Apply { file } => Some(file.as_str()),
            _ => None,
        })
    }
}

/// What is deployed under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ship {
    pub name: String,
    pub service: Name,
    pub version: String,
}

#[derive(Clone, Debug)]
pub struct Executor {
    pub name: ExecutorName,
    pub subscriptions: Vec<Subscription>,
    /// Where each of them names its task and its stages.
    pub named: Vec<Named>,
    /// How many processes share its tasks.
    pub replicas: u32,
    /// From the offer to the moment when it takes a task.
    pub delay: Span,
    /// From then to its answer.
    pub takes: Span,
    /// How long it may be silent, and how long its leases last.
    pub ttl: Span,
    pub answers: Answers,
    pub place: Place,
}

/// Where a subscription names what there has to be.
#[derive(Clone, Debug, Default)]
pub struct Named {
    pub task: Place,
    pub stages: Vec<Place>,
}

#[derive(Clone, Debug)]
pub enum Answers {
    /// To its tasks in the order in which it takes them; the last repeats.
    InOrder(Vec<Answer>),
    /// By what is asked, each in order; what is not listed passes.
    ByTask(Vec<(TaskAddress, Vec<Answer>)>),
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub conduct: Conduct,
    pub delay: Option<Span>,
    pub takes: Option<Span>,
    pub data: Map<String, Value>,
}

/// What an executor does with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// Answers, so often.
    Answers { outcome: Outcome, errored: bool, times: u32 },
    /// Says nothing for so long, not even that it is there, and then answers.
    Stalls { outcome: Outcome, span: Span },
    /// Works for ever.
    Silent,
    /// The process is gone after a while.
    Dies,
    /// Never takes the task.
    Ignores,
}

/// A task in an answer, a step or an expectation: `[deployment/][stage.[sequence[#run].]]task[:n]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskAddress {
    pub ship: Option<usize>,
    pub stage: Option<Name>,
    pub sequence: Option<Name>,
    pub run: Option<u32>,
    pub task: Name,
    /// Which of several with that name.
    pub occurrence: Option<u32>,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub struct Step {
    /// From the start.
    pub at: Span,
    pub action: Action,
    /// It has to be refused, with this in the reason.
    pub refused: Option<String>,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub enum Action {
    Trigger { ship: usize, stage: Name, sequence: Name, data: Map<String, Value> },
    Happen { ship: usize, event: String, stage: Option<(Name, Place)>, data: Map<String, Value> },
    Pause { ship: usize },
    Resume { ship: usize },
    Abort { ship: usize },
    Retry { ship: usize, task: TaskAddress, data: Option<Map<String, Value>> },
    Skip { ship: usize, task: TaskAddress, reason: String },
    Apply { file: String },
    Joins { executor: usize },
    Leaves { executor: usize },
    Dies { executor: usize },
}

#[derive(Clone, Debug)]
pub enum Expectation {
    Ends {
        ship: usize,
        verdict: Verdict,
        because: Option<String>,
    },
    Ran {
        what: Ran,
        ship: Option<usize>,
        times: Times,
    },
    /// A task was offered with at least this data.
    Received {
        task: TaskAddress,
        ship: Option<usize>,
        data: Map<String, Value>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    Never,
    Some,
    Exactly(u32),
}

/// A sequence, or one of its tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub stage: Name,
    pub sequence: Name,
    pub task: Option<Name>,
    pub place: Place,
}

/// How a deployment stands at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Warning,
    Fail,
    Superseded,
    Aborted,
    /// Not over.
    Open,
    /// Refused before it began.
    Absent,
}

impl Verdict {
    pub(crate) const ALL: [(&'static str, Self); 7] = [
        ("pass", Self::Pass),
        ("warning", Self::Warning),
        ("fail", Self::Fail),
        ("superseded", Self::Superseded),
        ("aborted", Self::Aborted),
        ("open", Self::Open),
        ("absent", Self::Absent),
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, it)| *it == self).map_or("", |(word, _)| word)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.stage, self.sequence)?;
        self.task.iter().try_for_each(|task| write!(f, ".{task}"))
    }
}

impl fmt::Display for TaskAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stage.iter().try_for_each(|stage| write!(f, "{stage}."))?;
        self.sequence.iter().try_for_each(|sequence| write!(f, "{sequence}"))?;
        self.run.iter().try_for_each(|run| write!(f, "#{run}"))?;
        self.sequence.iter().try_for_each(|_| f.write_str("."))?;
        write!(f, "{}", self.task)?;
        self.occurrence.iter().try_for_each(|n| write!(f, ":{n}"))
    }
}

impl Answer {
    pub(crate) fn pass() -> Self {
        let conduct = Conduct::Answers { outcome: Outcome::Pass, errored: false, times: 1 };
        Self { conduct, delay: None, takes: None, data: Map::new() }
    }
}
