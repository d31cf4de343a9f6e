use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_model::{Attempt, DeploymentId, Kind, Name, Revision, Seq, TargetId, Timestamp};

use super::graph::Node;
use super::triggers::{Born, Cause, Named};
use crate::record::Reason;
use crate::structure::{Sequence, Stage};

/// One deployment.
#[derive(Debug)]
pub(super) struct Dep {
    pub(super) id: DeploymentId,
    pub(super) revision: Revision,
    pub(super) started: Seq,
    pub(super) service: Name,
    pub(super) facts: BTreeMap<(String, Kind), Told>,
    pub(super) pins: BTreeMap<String, Arc<Sequence>>,
    /// Stages that left while the deployment was in them, with what came after them.
    pub(super) ghosts: BTreeMap<Name, (Arc<Stage>, BTreeSet<Name>)>,
    pub(super) claimed: BTreeSet<(String, Kind)>,
    pub(super) born: BTreeMap<String, Born>,
    pub(super) causes: BTreeMap<Seq, Cause>,
    pub(super) joined: BTreeMap<Named, Seq>,
    /// When a run last came further.
    pub(super) moved: BTreeMap<String, Timestamp>,
    pub(super) course: Course,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    Running,
    Paused,
    Aborting,
}

/// What the records say of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) status: Status,
    pub(super) tried: bool,
    pub(super) attempt: Attempt,
    pub(super) target: TargetId,
    /// How often it failed and was to be tried again by itself.
    pub(super) spent: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Idle,
    InFlight,
    Passed,
    Warned,
    Failed,
    Surpassed,
    IntroducedLate,
    Outdated,
    Condition,
    ByPerson,
    Superseded,
    Cancelled,
    Backoff,
}

impl Told {
    pub(super) fn untold(target: TargetId) -> Self {
        Self { status: Status::Idle, tried: false, attempt: Attempt(1), target, spent: 0 }
    }
}

impl Status {
    pub(super) fn complete(self) -> bool {
        self.finished()
            || matches!(
                self,
                Self::Surpassed
                    | Self::IntroducedLate
                    | Self::Outdated
                    | Self::Condition
                    | Self::ByPerson
            )
    }

    pub(super) fn finished(self) -> bool {
        matches!(self, Self::Passed | Self::Warned)
    }

    pub(super) fn settled(self) -> bool {
        !matches!(self, Self::Idle | Self::InFlight | Self::Backoff)
    }
}

impl Dep {
    pub(super) fn status(&self, node: &Node) -> Status {
        let told = self.facts.get(&(node.path.clone(), node.kind));
        told.map_or(Status::Idle, |told| told.status)
    }

    pub(super) fn in_flight(&self, node: &Node) -> bool {
        self.status(node) == Status::InFlight
    }

    pub(super) fn attempt(&self, path: &str, kind: Kind) -> Attempt {
        let told = self.facts.get(&(path.to_owned(), kind));
        told.map_or(Attempt(1), |told| told.attempt)
    }

    /// Whether somebody works on a step, or on a share of it.
    pub(super) fn is_claimed(&self, node: &Node) -> bool {
        let share = format!("{}@", node.path);
        let mine = |path: &String| *path == node.path || path.starts_with(&share);
        self.claimed.iter().any(|(path, kind)| *kind == node.kind && mine(path))
    }

    pub(super) fn tried(&self, node: &Node) -> bool {
        self.facts.get(&(node.path.clone(), node.kind)).is_some_and(|told| told.tried)
    }

    pub(super) fn ended(&self, project: &Name) -> bool {
        let key = (project.to_string(), Kind::PipelineFinished);
        self.facts.get(&key).is_some_and(|told| told.status.settled())
    }
}

pub(super) fn skipped(reason: &Reason) -> Status {
    match reason {
        Reason::Surpassed => Status::Surpassed,
        Reason::IntroducedLate => Status::IntroducedLate,
        Reason::Superseded | Reason::Replaced => Status::Outdated,
        Reason::Condition => Status::Condition,
        Reason::Person(_) => Status::ByPerson,
        Reason::Orphaned
        | Reason::Aborted
        | Reason::Withdrawn
        | Reason::TimedOut
        | Reason::RunTimedOut
        | Reason::NoExecutor
        | Reason::TooManyRuns
        | Reason::TooMuchData => Status::Cancelled,
    }
}
