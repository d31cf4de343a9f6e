use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use seaway_model::{DeploymentId, Fact, Kind, Name, Outcome, Revision, Seq, Timestamp};

use super::dep::{Course, Dep, Status, Told, skipped};
use super::ghosts::keep_ghosts;
use super::graph::Graph;
use super::permits::{Key, Permit};
use super::triggers::Named;
use crate::record::{Actor, Detail, Reason, Record};
use crate::structure::{Slot, Structure};

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
            (Kind::Executor | Kind::Documents, _) => {}
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
            Fact::Retried => return self.fold_retry(id, key, record),
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
            told.spent = 0;
        }
    }

    fn fold_retry(&mut self, id: DeploymentId, key: (String, Kind), record: &Record) {
        let before = self.deployments[&id].facts.get(&key).copied();
        let by_itself = |told: &Told| told.status == Status::Backoff && record.by == Actor::Seaway;
        let spent = before.filter(by_itself).map_or(0, |told| told.spent);
        self.reopen(id, &key, true);
        let dep = self.deployments.get_mut(&id).expect("it was started");
        let told = dep.facts.entry(key).or_insert(Told::untold(record.target));
        (told.attempt, told.spent) = (record.attempt, spent);
        if told.status == Status::Backoff {
            told.status = Status::Idle;
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
        let told = self.deployments[&id].facts.get(&(path.to_owned(), record.kind));
        let spent = told.map_or(0, |told| told.spent);
        node.kind == Kind::TaskDone
            && record.reason() != Some(&Reason::RunTimedOut)
            && spent < tasks[task].retries.limit
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
        let spent = dep.facts.get(&key).map_or(0, |told| told.spent);
        let spent = spent + u32::from(status == Status::Backoff);
        let tries =
            matches!(status, Status::InFlight | Status::Passed | Status::Warned | Status::Failed);
        let (target, attempt) = (record.target, record.attempt);
        let told = Told { status, tried: before || tries, attempt, target, spent };
        dep.facts.insert(key, told);
    }
}
