use std::collections::BTreeSet;
use std::fmt;

use seaway_model::{
    Attempt, DeploymentId, Digest, ExecutorName, Fact, Fence, Kind, Name, Outcome, Revision, Seq,
    Span, TargetId, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::structure::{StructureChange, Trigger};

/// One entry of the log: a fact in the past tense, never refused, never edited.
///
/// `(deployment, target, kind, fact, attempt, n)` is unique in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub seq: Seq,
    pub at: Timestamp,
    pub deployment: Option<DeploymentId>,
    pub target: TargetId,
    pub revision: Option<Revision>,
    pub kind: Kind,
    pub fact: Fact,
    pub attempt: Attempt,
    /// Counts repetitions inside one attempt: leases, status changes, pauses.
    pub n: u32,
    pub outcome: Option<Outcome>,
    pub detail: Option<Box<Detail>>,
    /// The record that led to this one.
    pub cause: Option<Seq>,
    pub by: Actor,
}

/// What a record says beyond its columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Detail {
    /// With `pipeline-started`: what is deployed.
    Deploys { service: Name, version: Box<str> },
    /// With `skipped` and `cancelled`.
    Because(Reason),
    /// With `claimed`.
    Lease { executor: ExecutorName, ttl: Span },
    /// With `structure-changed`.
    Change(StructureChange),
    /// With an executor's answers: whatever it sent, as it sent it.
    Answer(Box<str>),
    /// With `sequence-started`: the definition that the run keeps to its end.
    Pins { definition: u32 },
    /// With `sequence-triggered`: the entry that fired (none for a command), and the data that the
    /// run starts with, as the text of a JSON object.
    Triggered { on: Option<Trigger>, data: Box<str> },
    /// With a refused `sequence-triggered`: the entry that would have fired.
    Refused { on: Trigger, because: Reason },
    /// With `received`: something that happened outside.
    Happened { name: Box<str>, stage: Option<Name>, data: Box<str> },
    /// With `dispatched`: the executors that are waited for.
    Offered { to: Vec<ExecutorName> },
    /// With `executor-registered`.
    Registers { executor: ExecutorName, subscriptions: Vec<Subscription>, ttl: Span },
    /// With `executor-left`.
    Leaves { executor: ExecutorName },
    /// With a change of documents.
    Applies { documents: Vec<DocumentEdit>, services: Option<Services> },
    /// With `retried`: what a person changed in the data.
    Edits(Box<str>),
}

/// A document from now on: what it is, or that it is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentEdit {
    pub kind: Box<str>,
    pub name: Box<str>,
    #[serde(default)]
    pub digest: Option<Digest>,
}

/// The services that a project knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Services {
    /// Others are welcome, too.
    pub auto: bool,
    pub names: BTreeSet<Name>,
}

/// What an executor wants to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    pub task: Name,
    /// Only in these stages; none: in all.
    #[serde(default)]
    pub stages: Vec<Name>,
    /// Only for these services; none: for all.
    #[serde(default)]
    pub services: Vec<Name>,
    /// On what stands in the space of the task's name. All must hold.
    #[serde(default)]
    pub expressions: Vec<Expression>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expression {
    pub key: Box<str>,
    pub operator: Operator,
    #[serde(default)]
    pub values: Vec<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// Why a step did not do its work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Something after it had finished before it could start.
    Surpassed,
    /// It was introduced when the deployment had passed a place that would have needed it.
    IntroducedLate,
    /// A newer revision is at its place.
    Superseded,
    /// A newer revision took its place in line.
    Replaced,
    /// Its `when` does not hold.
    Condition,
    /// It left the structure while it was in flight.
    Orphaned,
    /// Its deployment was aborted.
    Aborted,
    /// A newer shipyard no longer triggers its run.
    Withdrawn,
    /// It took longer than it may.
    TimedOut,
    /// Its run took longer than it may.
    RunTimedOut,
    /// Nobody who could do it was there in time.
    NoExecutor,
    /// The sequence ran as often as it may in one deployment.
    TooManyRuns,
    /// The data that it would start with is larger than allowed.
    TooMuchData,
    /// A person skipped it and said why.
    Person(Box<str>),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Surpassed => f.write_str("surpassed"),
            Self::IntroducedLate => f.write_str("introduced late"),
            Self::Superseded => f.write_str("superseded"),
            Self::Replaced => f.write_str("replaced in line"),
            Self::Condition => f.write_str("condition"),
            Self::Orphaned => f.write_str("orphaned"),
            Self::Aborted => f.write_str("aborted"),
            Self::Withdrawn => f.write_str("withdrawn"),
            Self::TimedOut => f.write_str("timed out"),
            Self::RunTimedOut => f.write_str("sequence timed out"),
            Self::NoExecutor => f.write_str("no executor"),
            Self::TooManyRuns => f.write_str("too many runs"),
            Self::TooMuchData => f.write_str("too much data"),
            Self::Person(why) => write!(f, "person: {why}"),
        }
    }
}

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Actor {
    /// The scheduler itself.
    Seaway,
    /// A person or a program with a token, or an executor.
    Named(std::sync::Arc<str>),
}

impl Actor {
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::Named(name.into())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Seaway => "seaway",
            Self::Named(name) => name,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Address of a step: the smallest unit of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    pub deployment: DeploymentId,
    pub target: TargetId,
    pub kind: Kind,
}

impl Record {
    /// Bytes of data that somebody gave it.
    #[must_use]
    pub fn data_len(&self) -> usize {
        match self.detail.as_deref() {
            Some(Detail::Answer(data) | Detail::Edits(data)) => data.len(),
            Some(Detail::Triggered { data, .. } | Detail::Happened { data, .. }) => data.len(),
            _ => 0,
        }
    }

    #[must_use]
    pub fn step(&self) -> Option<Step> {
        let deployment = self.deployment?;
        Some(Step { deployment, target: self.target, kind: self.kind })
    }

    #[must_use]
    pub fn fence(&self) -> Fence {
        Fence { attempt: self.attempt, lease: self.n }
    }

    #[must_use]
    pub fn reason(&self) -> Option<&Reason> {
        match self.detail.as_deref() {
            Some(Detail::Because(reason) | Detail::Refused { because: reason, .. }) => Some(reason),
            _ => None,
        }
    }
}
