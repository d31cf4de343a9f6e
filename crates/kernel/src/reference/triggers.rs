use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{Attempt, DeploymentId, Fact, Kind, Name, Outcome, Seq};

use super::dep::{Dep, Status};
use super::fold::Reference;
use super::judge::Action;
use crate::Refusal;
use crate::record::{Detail, Reason, Record};
use crate::structure::{Entry, Event, On, Structure, Trigger};

/// An entry: stage, sequence, and what it says.
pub(super) type Named = (Name, Name, Trigger);

/// A run of a triggered stage.
#[derive(Clone, Debug)]
pub(super) struct Born {
    pub(super) stage: Name,
    pub(super) sequence: Name,
    pub(super) number: u32,
    /// The record and the entry that it comes from; none for a command.
    pub(super) from: Option<(Seq, Trigger)>,
    pub(super) since: Seq,
    pub(super) withdrawn: bool,
    /// It does not ask for the batch of its stage.
    pub(super) exempt: bool,
    /// The run in whose name it holds permits.
    pub(super) root: String,
}

/// Something that happened; kept for ever.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    pub(super) events: Vec<Event>,
    /// The run that ended.
    pub(super) run: Option<String>,
    /// Where it happened, if it said so.
    pub(super) at: Option<Name>,
    pub(super) outcome: Outcome,
    pub(super) last_task: Option<Name>,
    pub(super) open: bool,
    pub(super) fired: BTreeSet<Named>,
    pub(super) runs: Vec<String>,
}

impl Reference {
    /// Every entry of the structure, in the order in which they fire.
    pub(super) fn entries(&self) -> Vec<Named> {
        let mut entries = Vec::new();
        for stage in &self.stage_order {
            for sequence in &self.sequence_order {
                let found = self.structure.stages.get(stage);
                let found = found.and_then(|stage| stage.sequences.get(sequence));
                for trigger in found.into_iter().flat_map(|it| &it.triggers) {
                    entries.push((stage.clone(), sequence.clone(), trigger.clone()));
                }
            }
        }
        entries
    }

    fn takes(&self, cause: &Cause, (stage, _, trigger): &Named, event: Option<&Event>) -> bool {
        let here = cause.at.as_ref().is_none_or(|at| at == stage);
        let mut events = trigger.events().iter();
        let named = match event {
            Some(event) => cause.events.contains(event),
            None => events.any(|event| cause.events.contains(event)),
        };
        here && named && trigger.selector.takes(cause.outcome, cause.last_task.as_ref())
    }

    fn derives(&self, dep: &Dep, (at, cause): (Seq, &Cause), entry: &Named) -> bool {
        if !self.takes(cause, entry, None) {
            return false;
        }
        let On::All(events) = &entry.2.on else { return true };
        let since = dep.joined.get(entry).copied().max(self.join_since.get(entry).copied());
        events.iter().all(|event| {
            let mut seen = dep.causes.iter().rev().filter(|(at, cause)| {
                since.is_none_or(|since| **at > since) && self.takes(cause, entry, Some(event))
            });
            seen.next().is_some_and(|(newest, _)| *newest <= at)
        })
    }

    /// The entries that a cause still has to fire.
    pub(super) fn dues(&self, dep: &Dep, (at, cause): (Seq, &Cause)) -> Vec<Named> {
        let entries = self.entries().into_iter();
        entries
            .filter(|entry| {
                cause.open && !cause.fired.contains(entry) && self.derives(dep, (at, cause), entry)
            })
            .collect()
    }

    /// The first trigger that is due.
    pub(super) fn firing(&self, dep: &Dep) -> Option<Action> {
        let mut dues = dep.causes.iter().flat_map(|(at, cause)| self.dues(dep, (*at, cause)));
        let (stage, sequence, _) = dues.next()?;
        let before = dep.born.values();
        let same = before.filter(|run| run.stage == stage && run.sequence == sequence);
        let number = same.map(|run| run.number).max().unwrap_or(0) + 1;
        let refused = number > Refusal::MAX_RUNS;
        Some(Action {
            deployment: dep.id,
            path: format!("{}/{stage}/{sequence}#{number}", self.project),
            kind: Kind::SequenceTriggered,
            fact: if refused { Fact::Skipped } else { Fact::Finished },
            attempt: Attempt(1),
            outcome: (!refused).then_some(Outcome::Pass),
            reason: refused.then_some(Reason::TooManyRuns),
        })
    }

    pub(super) fn fold_trigger(&mut self, record: &Record, path: &str) {
        let id = record.deployment.expect("it is about a deployment");
        let mut parts = path.split('/').skip(1);
        let stage = Name::new(parts.next().expect("runs are in a stage")).expect("it is a name");
        let (sequence, number) =
            parts.next().and_then(|run| run.split_once('#')).expect("runs are numbered");
        let sequence = Name::new(sequence).expect("it is a name");
        let on = match record.detail.as_deref() {
            Some(Detail::Triggered { on, .. }) => on.clone(),
            Some(Detail::Refused { on, .. }) => Some(on.clone()),
            _ => None,
        };
        let from = record.cause.zip(on);
        let dep = self.deployments.get_mut(&id).expect("it was started");
        let mut root = path.to_owned();
        let mut since = record.seq;
        let mut exempt = false;
        if let Some((at, on)) = &from {
            let cause = dep.causes.get_mut(at).expect("causes are kept");
            let entry = (stage.clone(), sequence.clone(), on.clone());
            cause.fired.insert(entry.clone());
            if record.fact == Fact::Finished {
                cause.runs.push(path.to_owned());
            }
            exempt = cause.run.is_none();
            if let Some(parent) = cause.run.as_ref().and_then(|run| dep.born.get(run)) {
                since = parent.since;
                exempt = parent.exempt && parent.stage == stage;
                if cause.outcome == Outcome::Fail && parent.stage == stage {
                    root.clone_from(&parent.root);
                }
            }
            if let On::All(_) = on.on {
                dep.joined.insert(entry, record.seq);
            }
        }
        if record.fact != Fact::Finished {
            return;
        }
        let withdrawn = false;
        let number = number.parse().expect("runs are numbered");
        self.open_stage(id, &stage);
        let dep = self.deployments.get_mut(&id).expect("it was started");
        let born = Born { stage, sequence, number, from, since, withdrawn, exempt, root };
        dep.born.insert(path.to_owned(), born);
        dep.moved.insert(path.to_owned(), record.at);
        self.graphs.get_mut().remove(&id);
    }

    /// A stage that has ended is entered again.
    fn open_stage(&mut self, id: DeploymentId, stage: &Name) {
        let project = self.project.to_string();
        let path = format!("{project}/{stage}");
        let dep = self.deployments.get_mut(&id).expect("it was started");
        let end = dep.facts.get(&(path.clone(), Kind::StageFinished));
        let ended = end.is_some_and(|told| told.status.settled());
        let markers = [(path.clone(), Kind::StageStarted), (path, Kind::StageFinished)];
        let markers = markers.into_iter().filter(|_| ended);
        for key in markers.chain([(project, Kind::PipelineFinished)]) {
            if let Some(told) = dep.facts.get_mut(&key).filter(|told| told.status != Status::Idle) {
                told.status = Status::Idle;
                told.attempt = told.attempt.next();
            }
        }
    }

    pub(super) fn fold_event(&mut self, record: &Record) {
        let Some(Detail::Happened { name, stage, data }) = record.detail.as_deref() else { return };
        let id = record.deployment.expect("it is about a deployment");
        let dep = self.deployments.get_mut(&id).expect("it was started");
        let mut events = vec![Event::Domain(name.clone())];
        events.extend(stage.as_ref().map(|at| Event::Domain(format!("{at}.{name}").into())));
        let outcome = match data.contains("\"fail\"") {
            true => Outcome::Fail,
            false => Outcome::Pass,
        };
        let cause = Cause {
            events,
            run: None,
            at: stage.clone(),
            outcome,
            last_task: None,
            open: true,
            fired: BTreeSet::new(),
            runs: Vec::new(),
        };
        dep.causes.insert(record.seq, cause);
    }

    /// A run of a triggered stage ended and may start others.
    pub(super) fn note_end(&mut self, id: DeploymentId, path: &str, record: &Record) {
        let (Some(outcome), Kind::SequenceFinished) = (record.outcome, record.kind) else { return };
        let dep = &self.deployments[&id];
        let Some(born) = dep.born.get(path) else { return };
        let graph = self.graph(dep);
        let node = graph.find(path, record.kind).expect("runs end in the graph");
        let run = graph.nodes[node].run.as_ref().expect("it is a run");
        let ran = |done: &&usize| {
            let status = dep.status(&graph.nodes[**done]);
            status.finished() || status == Status::Failed
        };
        let last = run.tasks.iter().rev().find(ran).and_then(|done| graph.nodes[*done].task);
        let last_task = last.map(|task| run.definition.tasks[task].name.clone());
        let (stage, sequence) = (born.stage.clone(), born.sequence.clone());
        let cause = Cause {
            events: vec![Event::Finished { stage, sequence }],
            run: Some(path.to_owned()),
            at: None,
            outcome,
            last_task,
            open: true,
            fired: BTreeSet::new(),
            runs: Vec::new(),
        };
        let dep = self.deployments.get_mut(&id).expect("it was started");
        dep.causes.insert(record.seq, cause);
    }

    /// A new structure withdraws what it does not derive; what happened before fires nothing else.
    pub(super) fn close_causes(&mut self, seq: Seq) {
        let joins = self.entries().into_iter().filter(|it| matches!(it.2.on, On::All(_)));
        let joins: BTreeSet<Named> = joins.collect();
        self.join_since.retain(|join, _| joins.contains(join));
        for join in joins {
            self.join_since.entry(join).or_insert(seq);
        }
        let mut gone: BTreeMap<DeploymentId, BTreeSet<String>> = BTreeMap::new();
        for dep in self.deployments.values().filter(|dep| !dep.ended(&self.project)) {
            for (path, run) in &dep.born {
                let end = dep.facts.get(&(path.clone(), Kind::SequenceFinished));
                let over = end.is_some_and(|told| told.status.settled());
                if !over && !dep.pins.contains_key(path) && !self.still_derives(dep, run) {
                    gone.entry(dep.id).or_default().insert(path.clone());
                }
            }
        }
        for dep in self.deployments.values_mut() {
            let gone = gone.remove(&dep.id).unwrap_or_default();
            for cause in dep.causes.values_mut() {
                let fresh = |path: &String| gone.contains(path) && !dep.born[path].withdrawn;
                cause.open = cause.runs.iter().any(fresh);
            }
            for path in gone {
                dep.born.get_mut(&path).expect("it was just looked at").withdrawn = true;
            }
        }
    }

    fn still_derives(&self, dep: &Dep, run: &Born) -> bool {
        let entries = self.entries().into_iter();
        let mine = |entry: &Named| entry.0 == run.stage && entry.1 == run.sequence;
        match &run.from {
            None => has_sequence(&self.structure, &run.stage, &run.sequence),
            Some((at, on)) => entries.filter(mine).any(|entry| {
                let plain = matches!(entry.2.on, On::Event(_));
                entry.2 == *on || plain && self.derives(dep, (*at, &dep.causes[at]), &entry)
            }),
        }
    }
}

fn has_sequence(structure: &Structure, stage: &Name, sequence: &Name) -> bool {
    let stage = structure.stages.get(stage).filter(|stage| stage.entry == Entry::Triggered);
    stage.is_some_and(|stage| stage.sequences.contains_key(sequence))
}
