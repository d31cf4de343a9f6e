use std::fmt;

use seaway_model::{
    Attempt, DeploymentId, ExecutorName, Fact, Fence, Kind, Name, Outcome, Revision, Seq, Span,
    TargetId, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::structure::StructureChange;

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
            Some(Detail::Because(reason)) => Some(reason),
            _ => None,
        }
    }
}
