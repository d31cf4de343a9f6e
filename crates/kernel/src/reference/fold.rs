use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_model::{DeploymentId, Fact, Kind, Name, Outcome, Revision, Seq, TargetId};

use super::graph::{Graph, Node};
use super::permits::{Key, Permit};
use crate::record::{Detail, Reason, Record};
use crate::structure::{Sequence, Slot, Stage, Structure};

/// A project, as nothing but what its records say.
#[derive(Debug)]
pub struct Reference {
    pub(super) project: Name,
    pub(super) structure: Structure,
    pub(super) stage_order: Vec<Name>,
    pub(super) sequence_order: Vec<Name>,
    pub(super) introduced: BTreeMap<Slot, Seq>,
    pub(super) deployments: BTreeMap<DeploymentId, Dep>,
    pub(super) permits: BTreeMap<Key, Permit>,
    /// The newest revision dispatched at a place: (stage, service, group, member or slot).
    pub(super) newest: BTreeMap<String, Revision>,
}

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
    pub(super) target: TargetId,
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
        !matches!(self, Self::Idle | Self::InFlight)
    }
}

impl Dep {
    pub(super) fn status(&self, node: &Node) -> Status {
        let told = self.facts.get(&(node.path.clone(), node.kind));
        told.map_or(Status::Idle, |told| told.status)
    }

    pub(super) fn tried(&self, node: &Node) -> bool {
        self.facts.get(&(node.path.clone(), node.kind)).is_some_and(|told| told.tried)
    }

    pub(super) fn ended(&self, project: &Name) -> bool {
        let key = (project.to_string(), Kind::PipelineFinished);
        self.facts.get(&key).is_some_and(|told| told.status.settled())
    }
}

impl Reference {
    #[must_use]
    pub fn new(project: &Name) -> Self {
        Self {
            project: project.clone(),
            structure: Structure::default(),
            stage_order: Vec::new(),
            sequence_order: Vec::new(),
            introduced: BTreeMap::new(),
            deployments: BTreeMap::new(),
            permits: BTreeMap::new(),
            newest: BTreeMap::new(),
        }
    }

    /// Takes a record into account. `path` is the text of its target.
    pub fn fold(&mut self, record: &Record, path: &str) {
        match (record.kind, record.fact) {
            (Kind::Structure, _) => self.fold_structure(record),
            (Kind::PipelineStarted, _) => self.fold_start(record),
            (Kind::Deployment, fact) => {
                let id = record.deployment.expect("it is about a deployment");
                let dep = self.deployments.get_mut(&id).expect("it was started");
                dep.course = match fact {
                    Fact::Paused => Course::Paused,
                    Fact::Resumed => Course::Running,
                    _ => Course::Aborting,
                };
            }
            _ => self.fold_step(record, path),
        }
        self.release();
    }

    fn fold_start(&mut self, record: &Record) {
        let Some(Detail::Deploys { service, .. }) = record.detail.as_deref() else { return };
        let id = record.deployment.expect("it is about a deployment");
        let dep = Dep {
            id,
            revision: record.revision.expect("deployments have a revision"),
            started: record.seq,
            service: service.clone(),
            facts: BTreeMap::new(),
            pins: BTreeMap::new(),
            ghosts: BTreeMap::new(),
            claimed: BTreeSet::new(),
            course: Course::Running,
        };
        self.deployments.insert(id, dep);
        self.tell(id, (self.project.to_string(), Kind::PipelineStarted), record, Status::Passed);
    }

    fn fold_structure(&mut self, record: &Record) {
        let Some(Detail::Change(change)) = record.detail.as_deref() else { return };
        let new = change.apply_to(&self.structure).expect("recorded changes are allowed");
        let old = std::mem::replace(&mut self.structure, new);
        if !old.stages.is_empty() {
            for slot in self.structure.slots().difference(&old.slots()) {
                self.introduced.insert(slot.clone(), record.seq);
            }
        }
        for (name, stage) in &self.structure.stages {
            if !self.stage_order.contains(name) {
                self.stage_order.push(name.clone());
            }
            for sequence in stage.sequences.keys() {
                if !self.sequence_order.contains(sequence) {
                    self.sequence_order.push(sequence.clone());
                }
            }
        }
        for dep in self.deployments.values_mut() {
            keep_ghosts(&self.project, dep, &old, &self.structure);
        }
        self.grant_batches(&old);
    }

    fn fold_step(&mut self, record: &Record, path: &str) {
        let id = record.deployment.expect("it is about a deployment");
        let key = (path.to_owned(), record.kind);
        let idle = {
            let told = self.deployments[&id].facts.get(&key);
            told.is_none_or(|told| told.status == Status::Idle)
        };
        let entering = match record.fact {
            Fact::Dispatched => true,
            Fact::Finished | Fact::Failed => idle,
            _ => false,
        };
        if entering {
            self.enter(id, &key);
        }
        if record.reason() == Some(&Reason::Replaced) {
            self.count_replaced(id, &key);
        }
        let status = match record.fact {
            Fact::Dispatched => Status::InFlight,
            Fact::Finished | Fact::Failed => match record.outcome {
                Some(Outcome::Pass) => Status::Passed,
                Some(Outcome::Warning) => Status::Warned,
                _ => Status::Failed,
            },
            Fact::Skipped => skipped(record.reason().expect("skips have a reason")),
            Fact::Superseded => Status::Superseded,
            Fact::Cancelled => Status::Cancelled,
            Fact::Retried => return self.reopen(id, &key, true),
            fact => return self.fold_lease(id, key, fact),
        };
        if status == Status::ByPerson {
            self.reopen(id, &key, false);
        }
        let dep = self.deployments.get_mut(&id).expect("it was started");
        dep.claimed.remove(&key);
        if let Some(Detail::Pins { .. }) = record.detail.as_deref() {
            let graph = self.graph(&self.deployments[&id]);
            let node = graph.find(path, record.kind).expect("runs start in the graph");
            let run = graph.nodes[node].run.clone().expect("it is in a run");
            let dep = self.deployments.get_mut(&id).expect("it was started");
            dep.pins.insert(path.to_owned(), run.definition);
        }
        self.tell(id, key.clone(), record, status);
        if record.reason() == Some(&Reason::Orphaned) {
            let dep = self.deployments.get_mut(&id).expect("it was started");
            dep.facts.remove(&key);
        }
    }

    fn fold_lease(&mut self, id: DeploymentId, key: (String, Kind), fact: Fact) {
        let dep = self.deployments.get_mut(&id).expect("it was started");
        match fact {
            Fact::Claimed => {
                dep.claimed.insert(key);
            }
            Fact::LeaseExpired => {
                dep.claimed.remove(&key);
            }
            _ => {}
        }
    }

    fn tell(&mut self, id: DeploymentId, key: (String, Kind), record: &Record, status: Status) {
        let dep = self.deployments.get_mut(&id).expect("it was started");
        let before = dep.facts.get(&key).is_some_and(|told| told.tried);
        let tries =
            matches!(status, Status::InFlight | Status::Passed | Status::Warned | Status::Failed);
        let told = Told { status, tried: before || tries, target: record.target };
        dep.facts.insert(key, told);
    }

    /// Opens the next attempt of everything after a step in its run (or in its stage, when that
    /// starts again), and of the step itself.
    fn reopen(&mut self, id: DeploymentId, key: &(String, Kind), itself: bool) {
        let graph = self.graph(&self.deployments[&id]);
        let Some(from) = graph.find(&key.0, key.1) else { return };
        let origin = graph.nodes[from].clone();
        let reopened: Vec<(String, Kind)> = graph
            .nodes
            .iter()
            .enumerate()
            .filter(|(number, node)| reopens(&graph, from, &origin, *number, node, itself))
            .map(|(_, node)| (node.path.clone(), node.kind))
            .collect();
        let dep = self.deployments.get_mut(&id).expect("it was started");
        for key in reopened {
            if let Some(told) = dep.facts.get_mut(&key) {
                told.status = Status::Idle;
            }
        }
    }
}

fn reopens(
    graph: &Graph,
    from: usize,
    origin: &Node,
    number: usize,
    node: &Node,
    itself: bool,
) -> bool {
    let ends = match node.kind {
        Kind::PipelineFinished => true,
        Kind::StageFinished => node.stage == origin.stage,
        _ => false,
    };
    if ends || number == from {
        return ends || itself;
    }
    if origin.kind == Kind::StageStarted {
        return node.stage == origin.stage;
    }
    let same_run = node.run.is_some() && node.run == origin.run;
    let whole_task = itself && origin.kind == Kind::TaskDone && node.task == origin.task;
    same_run && (graph.after[from].contains(&number) || whole_task)
}

fn keep_ghosts(project: &Name, dep: &mut Dep, old: &Structure, new: &Structure) {
    if dep.ended(project) {
        return;
    }
    dep.ghosts.retain(|name, _| !new.stages.contains_key(name));
    for (name, stage) in &old.stages {
        if new.stages.contains_key(name) {
            continue;
        }
        let path = format!("{project}/{name}");
        let end = dep.facts.get(&(path.clone(), Kind::StageFinished));
        let end = end.map_or(Status::Idle, |told| told.status);
        let begun = dep.pins.keys().any(|run| run.starts_with(&format!("{path}/")));
        let broken = matches!(end, Status::Failed | Status::Superseded);
        if !end.complete() && (begun || broken) {
            let after = |(_, it): &(&Name, &Arc<Stage>)| it.after.contains(name);
            let followers = old.stages.iter().filter(after).map(|(name, _)| name.clone());
            dep.ghosts.insert(name.clone(), (stage.clone(), followers.collect()));
        }
    }
    for (_, followers) in dep.ghosts.values_mut() {
        followers.retain(|name| new.stages.contains_key(name));
    }
}

fn skipped(reason: &Reason) -> Status {
    match reason {
        Reason::Surpassed => Status::Surpassed,
        Reason::IntroducedLate => Status::IntroducedLate,
        Reason::Superseded | Reason::Replaced => Status::Outdated,
        Reason::Condition => Status::Condition,
        Reason::Person(_) => Status::ByPerson,
        Reason::Orphaned | Reason::Aborted => Status::Cancelled,
    }
}
