use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use seaway_model::{
    Attempt, DeploymentId, Fact, Kind, Name, Outcome, Revision, Seq, TargetId, Timestamp,
};

use super::graph::{Graph, Node};
use super::permits::{Key, Permit};
use super::triggers::{Born, Cause, Named};
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
    /// Since when a join is in the structure.
    pub(super) join_since: BTreeMap<Named, Seq>,
    /// The time at which it is asked.
    pub now: Timestamp,
    pub(super) deployments: BTreeMap<DeploymentId, Dep>,
    pub(super) permits: BTreeMap<Key, Permit>,
    /// The newest revision dispatched at a place: (stage, service, group, member or slot).
    pub(super) newest: BTreeMap<String, Revision>,
    pub(super) graphs: RefCell<BTreeMap<DeploymentId, Rc<Graph>>>,
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
    pub(super) born: BTreeMap<String, Born>,
    pub(super) causes: BTreeMap<Seq, Cause>,
    pub(super) joined: BTreeMap<Named, Seq>,
    /// Stages entered because something happened outside.
    pub(super) exempt: BTreeSet<Name>,
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
    fn untold(target: TargetId) -> Self {
        Self { status: Status::Idle, tried: false, attempt: Attempt(1), target }
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

impl Reference {
    #[must_use]
    pub fn new(project: &Name) -> Self {
        Self {
            project: project.clone(),
            structure: Structure::default(),
            stage_order: Vec::new(),
            sequence_order: Vec::new(),
            introduced: BTreeMap::new(),
            join_since: BTreeMap::new(),
            now: Timestamp::default(),
            deployments: BTreeMap::new(),
            permits: BTreeMap::new(),
            newest: BTreeMap::new(),
            graphs: RefCell::default(),
        }
    }

    /// Takes a record into account. `path` is the text of its target.
    pub fn fold(&mut self, record: &Record, path: &str) {
        match (record.kind, record.fact) {
            (Kind::Structure, _) => self.fold_structure(record),
            (Kind::PipelineStarted, _) => self.fold_start(record),
            (Kind::Executor, _) => {}
            (Kind::Event, _) => self.fold_event(record),
            (Kind::SequenceTriggered, _)
                if matches!(
                    record.detail.as_deref(),
                    Some(Detail::Triggered { .. } | Detail::Refused { .. })
                ) =>
            {
                self.fold_trigger(record, path);
                if record.fact == Fact::Finished {
                    let id = record.deployment.expect("it is about a deployment");
                    self.tell(id, (path.to_owned(), record.kind), record, Status::Passed);
                }
            }
            _ if path.contains('@') => self.fold_share(record, path),
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
        self.lay_ghosts(record);
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
            born: BTreeMap::new(),
            causes: BTreeMap::new(),
            joined: BTreeMap::new(),
            exempt: BTreeSet::new(),
            moved: BTreeMap::new(),
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
            for slot in crate::structure::introduced(&old, &self.structure) {
                self.introduced.insert(slot, record.seq);
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
        self.close_causes(record.seq);
        self.graphs.get_mut().clear();
        self.grant_batches(&old);
    }

    fn fold_step(&mut self, record: &Record, path: &str) {
        let id = record.deployment.expect("it is about a deployment");
        let key = (path.to_owned(), record.kind);
        if self.enters(id, &key, record) {
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
                _ if self.backs_off(id, path, record) => Status::Backoff,
                _ => Status::Failed,
            },
            Fact::Skipped => skipped(record.reason().expect("skips have a reason")),
            Fact::Superseded => Status::Superseded,
            Fact::Cancelled => Status::Cancelled,
            Fact::Retried => {
                self.reopen(id, &key, true);
                let dep = self.deployments.get_mut(&id).expect("it was started");
                let told = dep.facts.entry(key).or_insert(Told::untold(record.target));
                told.attempt = record.attempt;
                if told.status == Status::Backoff {
                    told.status = Status::Idle;
                }
                return;
            }
            fact => return self.fold_lease(id, key, fact),
        };
        if status == Status::ByPerson {
            self.reopen(id, &key, false);
        }
        let dep = self.deployments.get_mut(&id).expect("it was started");
        dep.claimed.remove(&key);
        let share = format!("{path}@");
        if record.kind == Kind::TaskDone {
            dep.claimed.retain(|(it, _)| !it.starts_with(&share));
        }
        if let Some(Detail::Pins { .. }) = record.detail.as_deref() {
            let graph = self.graph(&self.deployments[&id]);
            let node = graph.find(path, record.kind).expect("runs start in the graph");
            let run = graph.nodes[node].run.clone().expect("it is in a run");
            let dep = self.deployments.get_mut(&id).expect("it was started");
            dep.moved.insert(run.path.clone(), record.at);
            dep.pins.insert(run.path, run.definition);
            self.graphs.get_mut().remove(&id);
        }
        if status.settled()
            && let Some(node) = self.graph(&self.deployments[&id]).find(path, record.kind)
            && let Some(run) = self.graph(&self.deployments[&id]).nodes[node].run.clone()
        {
            let dep = self.deployments.get_mut(&id).expect("it was started");
            dep.moved.insert(run.path, record.at);
        }
        if matches!(record.fact, Fact::Finished | Fact::Failed) {
            self.note_end(id, path, record);
        }
        self.tell(id, key.clone(), record, status);
        if record.reason() == Some(&Reason::Orphaned) {
            // As if it had never been dispatched: it may come back, as the next attempt.
            let dep = self.deployments.get_mut(&id).expect("it was started");
            let told = dep.facts.get_mut(&key).expect("it was just told");
            (told.status, told.tried, told.attempt) = (Status::Idle, false, told.attempt.next());
        }
    }

    /// Whether a record dispatches its step.
    fn enters(&self, id: DeploymentId, key: &(String, Kind), record: &Record) -> bool {
        let told = self.deployments[&id].facts.get(key);
        let idle = told.is_none_or(|told| told.status == Status::Idle);
        match record.fact {
            Fact::Dispatched => true,
            Fact::Finished | Fact::Failed => idle && record.reason() != Some(&Reason::RunTimedOut),
            _ => false,
        }
    }

    /// A failed task with attempts left is tried again by itself.
    fn backs_off(&self, id: DeploymentId, path: &str, record: &Record) -> bool {
        let graph = self.graph(&self.deployments[&id]);
        let Some(node) = graph.find(path, record.kind) else { return false };
        let node = &graph.nodes[node];
        let (Some(run), Some(task), true) = (&node.run, node.task, node.work) else { return false };
        let tasks = &run.definition.tasks;
        node.kind == Kind::TaskDone
            && record.reason() != Some(&Reason::RunTimedOut)
            && record.attempt.0 <= tasks[task].retries.limit
    }

    /// Whether a step waits for its next attempt.
    #[must_use]
    pub fn is_backing_off(&self, id: DeploymentId, path: &str) -> bool {
        let told = self.deployments[&id].facts.get(&(path.to_owned(), Kind::TaskDone));
        told.is_some_and(|told| told.status == Status::Backoff)
    }

    /// Whether a task is in flight.
    #[must_use]
    pub fn is_in_flight(&self, id: DeploymentId, path: &str) -> bool {
        let told = self.deployments[&id].facts.get(&(path.to_owned(), Kind::TaskDone));
        told.is_some_and(|told| told.status == Status::InFlight)
    }

    fn fold_share(&mut self, record: &Record, path: &str) {
        let id = record.deployment.expect("it is about a deployment");
        let dep = self.deployments.get_mut(&id).expect("it was started");
        let key = (path.to_owned(), record.kind);
        match record.fact {
            Fact::Claimed => {
                dep.claimed.insert(key);
            }
            Fact::Started | Fact::Changed => {}
            _ => {
                dep.claimed.remove(&key);
            }
        }
    }

    /// A stage that left is forgotten once it has ended well and no run needs it any more.
    fn lay_ghosts(&mut self, record: &Record) {
        let project = self.project.clone();
        let dep = record.deployment.and_then(|id| self.deployments.get_mut(&id));
        let Some(dep) = dep.filter(|dep| !dep.ghosts.is_empty()) else { return };
        let facts = &dep.facts;
        dep.ghosts.retain(|name, _| {
            let path = format!("{project}/{name}");
            let inside = format!("{path}/");
            let end = facts.get(&(path, Kind::StageFinished));
            let needed = facts.iter().any(|((path, _), told)| {
                path.starts_with(&inside)
                    && matches!(told.status, Status::InFlight | Status::Failed)
            });
            needed || end.is_none_or(|told| !told.status.complete())
        });
        self.graphs.get_mut().remove(&dep.id);
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
        let (target, attempt) = (record.target, record.attempt);
        let told = Told { status, tried: before || tries, attempt, target };
        dep.facts.insert(key, told);
    }

    /// Opens the next attempt of everything after a step in its run (or in its stage, when that
    /// starts again), and of the step itself.
    fn reopen(&mut self, id: DeploymentId, key: &(String, Kind), itself: bool) {
        let graph = self.graph(&self.deployments[&id]);
        let Some(from) = graph.find(&key.0, key.1) else { return };
        let origin = graph.nodes[from].clone();
        let project = self.project.to_string();
        let dep = self.deployments.get_mut(&id).expect("it was started");
        let ended = dep
            .facts
            .iter()
            .filter(|(_, told)| told.status.settled() || told.status == Status::Backoff);
        let reopened: Vec<(String, Kind)> = ended
            .filter(|((path, kind), _)| {
                let ends = match kind {
                    Kind::PipelineFinished => *path == project,
                    Kind::StageFinished => Some(path.as_str()) == stage_of(&project, &origin),
                    _ => false,
                };
                let same = *path == key.0 && *kind == key.1;
                if origin.kind == Kind::StageStarted && !starts_again(dep, path, *kind) {
                    return ends;
                }
                ends || (same && itself) || (!same && reopens(&origin, path, *kind, itself))
            })
            .map(|(key, _)| key.clone())
            .collect();
        for key in reopened {
            if let Some(told) = dep.facts.get_mut(&key).filter(|it| it.status != Status::Idle) {
                told.status = Status::Idle;
                told.attempt = told.attempt.next();
            }
        }
    }
}

/// The path of the stage that a step is in.
fn stage_of<'a>(project: &str, origin: &'a Node) -> Option<&'a str> {
    let stage = origin.stage.as_ref()?;
    origin.path.get(..project.len() + 1 + stage.as_str().len())
}

/// When a stage starts again, what was triggered in it stays triggered, and what ended there has
/// ended.
fn starts_again(dep: &Dep, path: &str, kind: Kind) -> bool {
    let run = path.split('/').take(3).collect::<Vec<_>>().join("/");
    let end = dep.facts.get(&(run.clone(), Kind::SequenceFinished));
    let over = end.is_some_and(|told| told.status.settled());
    !dep.born.contains_key(&run) || (kind != Kind::SequenceTriggered && !over)
}

/// Whether a step, in the structure or gone from it, comes after another in its run (or is in its
/// stage, when that starts again).
fn reopens(origin: &Node, path: &str, kind: Kind, itself: bool) -> bool {
    let below = |above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
    if origin.kind == Kind::StageStarted {
        return below(&origin.path);
    }
    let Some(run) = origin.run.as_ref() else { return false };
    if path != run.path && !below(&run.path) {
        return false;
    }
    let parts = run.definition.parts();
    let phase = |path: &str, kind: Kind| match (path[run.path.len()..].split('/').nth(1), kind) {
        (None, Kind::SequenceTriggered) => 0,
        (None, Kind::SequenceStarted) => 1,
        (None, _) => usize::MAX,
        (Some(task), _) => 2 + parts.iter().position(|it| it == task).unwrap_or(parts.len()),
    };
    let (mine, its) = (phase(&origin.path, origin.kind), phase(path, kind));
    if mine != its {
        return its > mine;
    }
    match (origin.kind, kind) {
        (Kind::TaskDone, _) => itself,
        (_, Kind::TaskDone) => true,
        (Kind::GroupFinished, _) => false,
        (Kind::GroupStarted, _) => path == origin.path || below(&origin.path),
        (_, Kind::GroupFinished) => origin.path.starts_with(&format!("{path}/")),
        _ => path == origin.path && kind > origin.kind,
    }
}

fn keep_ghosts(project: &Name, dep: &mut Dep, old: &Structure, new: &Structure) {
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
        let inside = format!("{path}/");
        let needed = dep.facts.iter().any(|((path, _), told)| {
            path.starts_with(&inside) && matches!(told.status, Status::InFlight | Status::Failed)
        });
        if (!end.complete() || needed) && (begun || broken) {
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
