use seaway_model::{Name, Outcome, Span};
use serde::Serialize;
use serde_json::{Map, Value};

/// A checked pipeline: stages in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shipyard {
    /// Empty where a Keptn file gives none.
    pub name: String,
    pub dialect: Dialect,
    pub promotion: Promotion,
    pub stages: Vec<Stage>,
}

/// Which rules a file is read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Dialect {
    /// `spec.keptn.sh/0.2.x`: what real Keptn ignored is a warning.
    Keptn,
    /// `seaway.dev/v1`: what is not understood is an error.
    Seaway,
}

/// What moves from stage to stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Promotion {
    Service,
    Snapshot,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    pub name: Name,
    pub batch: Option<Batch>,
    pub sequences: Vec<Sequence>,
}

/// `capacity` revisions at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    pub capacity: u32,
    pub policy: Policy,
}

/// What happens to those who wait for a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Policy {
    Queue,
    Supersede { max_replaced: u32 },
    Parallel,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sequence {
    pub name: Name,
    pub scope: Scope,
    /// Alternatives: each of them starts a run.
    pub triggered_on: Vec<Trigger>,
    /// Never empty.
    pub tasks: Vec<Task>,
    pub timeout: Option<Span>,
    pub batch: Option<TaskRange>,
}

/// A batch around some tasks of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRange {
    /// Position of the first task inside, from zero.
    pub first: u32,
    /// Position of the last task inside; never before `first`.
    pub last: u32,
    pub batch: Batch,
}

/// What a run of a sequence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    Service,
    Snapshot,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    pub on: On,
    pub selector: Selector,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum On {
    /// Every occurrence of the event.
    Any(Event),
    /// A join: once all of them have occurred.
    All(Vec<Event>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// A sequence of this file has finished.
    Finished { stage: Name, sequence: Name },
    /// Something outside of the pipeline, by the type of its event without `sh.keptn.event.`.
    Domain(String),
}

/// Which occurrences of an event count. Without any condition: those that passed or warned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Selector {
    /// Of the whole sequence, or of one of its tasks. Several are alternatives.
    pub results: Vec<(Option<Name>, Outcome)>,
    /// Dotted paths into the event's data with the text that has to be there. The same path again
    /// is an alternative.
    pub data: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub name: Name,
    /// Keeps its identity when the list of tasks is edited.
    pub id: Option<Name>,
    pub properties: Map<String, Value>,
    pub triggered_after: Option<Span>,
    pub timeout: Option<Span>,
    pub retries: Retries,
    pub when: When,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Retries {
    pub limit: u32,
    pub backoff: Span,
}

/// Whether a task runs, given how the run went so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum When {
    #[default]
    Succeeded,
    Failed,
    Always,
}
