use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_model::{Kind, Name, Span};
use serde::{Deserialize, Serialize};

use super::trigger::Trigger;

/// What `next` reads: the stages of a pipeline as they are now, with what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    pub stages: BTreeMap<Name, Arc<Stage>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    #[serde(default)]
    pub entry: Entry,
    /// The stages that an ordered one waits for.
    #[serde(default)]
    pub after: BTreeSet<Name>,
    #[serde(default)]
    pub batch: Option<Batch>,
    #[serde(default)]
    pub sequences: BTreeMap<Name, Arc<Sequence>>,
    #[serde(default)]
    pub groups: BTreeMap<Name, Arc<Group>>,
}

/// How a deployment comes into a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Entry {
    /// When every stage in `after` is complete; then all its sequences run.
    #[default]
    Ordered,
    /// When one of its sequences is triggered; only what is triggered runs.
    Triggered,
}

/// One revision at a time (or `capacity` of them) inside a range of steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    pub capacity: u32,
    pub policy: Policy,
}

/// What happens to those who wait for a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Policy {
    /// Oldest revision first.
    Queue,
    /// A newer waiter replaces older waiters of the same service. After `max_replaced`
    /// replacements in a row the waiter at the head is kept until it was served.
    Supersede { max_replaced: u32 },
    /// Nobody waits.
    Parallel,
}

/// Tasks in order, possibly with a batch around some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sequence {
    pub tasks: Vec<Task>,
    /// A batch from one task to another, both included, by their position.
    #[serde(default)]
    pub range: Option<Range>,
    /// What starts it, in a triggered stage: each entry is an alternative.
    #[serde(default)]
    pub triggers: Vec<Trigger>,
    /// How long a run may take from its start; then what is in flight fails.
    #[serde(default)]
    pub timeout: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    pub first: u32,
    pub last: u32,
    pub batch: Batch,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub name: Name,
    /// Keeps its identity when the task list is edited; without it the name and its occurrence do.
    #[serde(default)]
    pub id: Option<Name>,
    #[serde(default)]
    pub when: When,
    /// The groups of its stage that it goes over. None: the task itself is the work.
    #[serde(default)]
    pub groups: Vec<Name>,
    /// What its message carries in the space of its name: the text of a JSON object, or nothing.
    #[serde(default)]
    pub properties: Option<Box<str>>,
    /// How long it waits after what came before it.
    #[serde(default)]
    pub delay: Option<Span>,
    /// How long it may take from when it was first taken.
    #[serde(default)]
    pub timeout: Option<Span>,
    #[serde(default)]
    pub retries: Retries,
}

/// Attempts that follow a failed one by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retries {
    pub limit: u32,
    /// Doubles with every attempt.
    pub backoff: Span,
}

impl Task {
    /// A task without groups and extras.
    #[must_use]
    pub fn new(name: Name) -> Self {
        Self {
            name,
            id: None,
            when: When::default(),
            groups: Vec::new(),
            properties: None,
            delay: None,
            timeout: None,
            retries: Retries::default(),
        }
    }
}

/// Whether a task runs, given how its run went so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum When {
    #[default]
    Succeeded,
    Failed,
    Always,
}

/// Members, and the steps that each of them goes through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    pub chain: Vec<Kind>,
    #[serde(default)]
    pub members: Arc<BTreeSet<Name>>,
}

/// Identity of a step in the definition, across runs, members and deployments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Slot {
    Kind(Kind),
    /// Sequence, then the task's id or name, then its occurrence among those of that name.
    Task(Name, Name, u32),
}

/// One atomic change of the structure. All of it happens, or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StructureChange(pub Vec<Edit>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "edit")]
pub enum Edit {
    /// Adds a stage without sequences and groups, or gives an existing one other predecessors and
    /// another batch.
    PutStage {
        stage: Name,
        #[serde(default)]
        entry: Entry,
        after: BTreeSet<Name>,
        batch: Option<Batch>,
    },
    /// Stages that came after it come after its predecessors from now on.
    RemoveStage {
        stage: Name,
    },
    PutSequence {
        stage: Name,
        sequence: Name,
        definition: Sequence,
    },
    RemoveSequence {
        stage: Name,
        sequence: Name,
    },
    /// Adds a group without members, or changes the chain of an existing one.
    PutGroup {
        stage: Name,
        group: Name,
        chain: Vec<Kind>,
    },
    RemoveGroup {
        stage: Name,
        group: Name,
    },
    AddMembers {
        stage: Name,
        group: Name,
        members: Vec<Name>,
    },
    RemoveMembers {
        stage: Name,
        group: Name,
        members: Vec<Name>,
    },
}
