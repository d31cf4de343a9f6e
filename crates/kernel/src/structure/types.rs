use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_model::{Kind, Name};
use serde::{Deserialize, Serialize};

/// What `next` reads: the stages of a pipeline as they are now, with what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    pub stages: BTreeMap<Name, Arc<Stage>>,
}

/// A stage starts when every stage in `after` is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    #[serde(default)]
    pub after: BTreeSet<Name>,
    #[serde(default)]
    pub batch: Option<Batch>,
    #[serde(default)]
    pub sequences: BTreeMap<Name, Arc<Sequence>>,
    #[serde(default)]
    pub groups: BTreeMap<Name, Arc<Group>>,
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
