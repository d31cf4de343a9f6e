use std::collections::BTreeMap;

use seaway_kernel::Detail;
use seaway_model::{Attempt, Fact, Kind, Name, Seq, Timestamp};
use seaway_wire::{DeploymentStart, Row};

use super::span::{Cargo, End, Ending, Open, Span, SpanId, Value};

/// What a deployment is doing: its spans that are not over.
#[derive(Clone, Debug)]
pub(crate) struct Journey {
    cargo: Cargo,
    /// Its last record.
    pub(super) last: Seq,
    whole: Lap,
    runs: BTreeMap<Box<str>, Lap>,
    work: BTreeMap<(Box<str>, Kind), Open>,
}

/// Something that may go on again after its end, which makes another span.
#[derive(Clone, Debug, Default)]
struct Lap {
    number: u32,
    open: Option<Open>,
}

impl Lap {
    fn note(&mut self, what: (Timestamp, &str), attributes: Vec<(&'static str, Value)>) {
        if let Some(open) = &mut self.open {
            open.note(what, attributes);
        }
    }
}

/// The parts of a target path that matter here.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    /// Without the executor.
    target: &'a str,
    stage: Option<&'a str>,
    run: Option<&'a str>,
    /// Below the run.
    inner: Option<&'a str>,
    executor: Option<&'a str>,
}

impl<'a> Place<'a> {
    fn of(path: &'a str) -> Self {
        let (target, executor) = match path.split_once('@') {
            Some((target, executor)) => (target, Some(executor)),
            None => (path, None),
        };
        let mut slashes = target.match_indices('/').map(|(at, _)| at);
        let (first, second, third) = (slashes.next(), slashes.next(), slashes.next());
        let stage = first.map(|first| &target[first + 1..second.unwrap_or(target.len())]);
        let run = second.map(|_| &target[..third.unwrap_or(target.len())]);
        let inner = third.map(|third| &target[third + 1..]);
        Self { target, stage, run, inner, executor }
    }

    /// The name of a run without its number: `beta.delivery`.
    fn sequence(&self) -> String {
        let part = self.run.and_then(|run| run.rsplit_once('/')).map_or("", |(_, part)| part);
        let name = part.split_once('#').map_or(part, |(name, _)| name);
        format!("{}.{name}", self.stage.unwrap_or_default())
    }
}

impl Journey {
    /// Begins with the record that starts a deployment; nothing for any other.
    pub(super) fn begin(project: &Name, row: &Row) -> Option<Self> {
        let start = DeploymentStart::of(&row.open().ok()?)?;
        let cargo = Cargo {
            project: project.to_string(),
            deployment: start.deployment,
            service: start.service.to_string(),
            version: start.version.into(),
            revision: start.revision.0,
        };
        let (whole, runs, work) = (Lap::default(), BTreeMap::new(), BTreeMap::new());
        Some(Self { cargo, last: row.seq, whole, runs, work })
    }

    /// Whether it has ended.
    pub(super) fn is_over(&self) -> bool {
        self.whole.open.is_none()
    }

    /// What a record says about it; spans that end with it are handed out.
    pub(super) fn take(&mut self, row: &Row, path: &str, out: &mut Vec<Span>) {
        self.last = row.seq;
        let place = Place::of(path);
        if opens(row) {
            self.open(row.at, place);
        }
        let ending = Ending::of(row.fact, || why(row));
        let end =
            ending.map(|ending| End { at: row.at, fact: row.fact, outcome: row.outcome, ending });
        match (row.kind, end) {
            (Kind::PipelineFinished, Some(end)) => self.close(&end, out),
            (Kind::SequenceFinished, Some(end)) => {
                let lap = place.run.and_then(|run| self.runs.get_mut(run));
                let open = lap.and_then(|lap| lap.open.take());
                out.extend(open.map(|open| open.close(&end)));
            }
            (Kind::SequenceStarted, Some(_)) => self.note_at_run(row, place),
            (Kind::Deployment, _) => self.whole.note((row.at, row.fact.as_str()), Vec::new()),
            (Kind::SequenceTriggered, _) if row.fact == Fact::Failed => {
                self.whole.note((row.at, "trigger-refused"), target(place));
            }
            (kind, end) if !kind.is_marker() => self.work(row, place, end, out),
            _ if row.fact == Fact::Retried => self.note_at_run(row, place),
            _ => {}
        }
    }

    /// Opens what the record is in, wherever it is not open.
    fn open(&mut self, at: Timestamp, place: Place<'_>) {
        let Self { cargo, whole, runs, .. } = self;
        let deployment = cargo.deployment;
        if whole.open.is_none() {
            whole.number += 1;
            let id = |number| {
                SpanId::new(deployment, &cargo.project, Kind::PipelineFinished, Attempt(number))
            };
            let parent = (whole.number > 1).then(|| id(1));
            let ids = (deployment, id(whole.number), parent);
            let name = format!("deploy {}", cargo.service);
            let attributes = cargo.attributes(None, &cargo.project, Attempt(whole.number));
            whole.open = Some(Open::new(ids, name, at, attributes));
        }
        let Some(run) = place.run else { return };
        let lap = runs.entry(run.into()).or_default();
        if lap.open.is_none() {
            lap.number += 1;
            let attempt = Attempt(lap.number);
            let id = SpanId::new(deployment, run, Kind::SequenceFinished, attempt);
            let parent = whole.open.as_ref().map(|open| open.span.id);
            let attributes = cargo.attributes(place.stage, run, attempt);
            let open = Open::new((deployment, id, parent), place.sequence(), at, attributes);
            lap.open = Some(open);
        }
    }

    fn close(&mut self, end: &End, out: &mut Vec<Span>) {
        let work = std::mem::take(&mut self.work).into_values();
        let runs = self.runs.values_mut().filter_map(|lap| lap.open.take());
        // What has no end of its own was left behind.
        let left = End { ending: Ending::Other, outcome: None, fact: Fact::Cancelled, ..*end };
        out.extend(work.chain(runs).map(|open| open.close(&left)));
        out.extend(self.whole.open.take().map(|open| open.close(end)));
    }

    fn note_at_run(&mut self, row: &Row, place: Place<'_>) {
        let lap = place.run.and_then(|run| self.runs.get_mut(run));
        let what = match row.kind {
            Kind::SequenceStarted if row.fact == Fact::Finished => "started",
            _ => row.fact.as_str(),
        };
        let lap = lap.unwrap_or(&mut self.whole);
        lap.note((row.at, what), target(place));
    }

    /// A record about a step with work of its own, or about one executor's share of it.
    fn work(&mut self, row: &Row, place: Place<'_>, end: Option<End>, out: &mut Vec<Span>) {
        let key = (Box::from(place.target), row.kind);
        match (row.fact, end) {
            (Fact::Dispatched, _) => {
                let open = self.new_work(row, place);
                let before = self.work.insert(key, open);
                let (at, fact) = (row.at, Fact::Superseded);
                let end = End { at, fact, outcome: None, ending: Ending::Other };
                out.extend(before.map(|open| open.close(&end)));
            }
            (Fact::Claimed | Fact::Started | Fact::Changed | Fact::LeaseExpired, _) => {
                self.note_at_work(row, place, &key);
            }
            (_, Some(_)) if place.executor.is_some() => self.note_at_work(row, place, &key),
            (_, Some(end)) => match self.work.remove(&key) {
                Some(open) => out.push(open.close(&end)),
                None => self.note_at_run(row, place),
            },
            (Fact::Retried, None) => self.note_at_run(row, place),
            _ => {}
        }
    }

    fn new_work(&self, row: &Row, place: Place<'_>) -> Open {
        let deployment = self.cargo.deployment;
        let id = SpanId::new(deployment, place.target, row.kind, row.attempt);
        let run = place.run.and_then(|run| self.runs.get(run));
        let above = run.unwrap_or(&self.whole);
        let parent = above.open.as_ref().map(|open| open.span.id);
        let name = place.inner.unwrap_or(row.kind.as_str()).to_owned();
        let attributes = self.cargo.attributes(place.stage, place.target, row.attempt);
        Open::new((deployment, id, parent), name, row.at, attributes)
    }

    fn note_at_work(&mut self, row: &Row, place: Place<'_>, key: &(Box<str>, Kind)) {
        let Some(open) = self.work.get_mut(key) else { return };
        let mut attributes = Vec::new();
        let executor = place.executor.map(ToOwned::to_owned).or_else(|| holder(row));
        if let Some(executor) = executor {
            open.by(&executor);
            attributes.push(("seaway.executor", Value::Text(executor)));
        }
        if matches!(row.fact, Fact::Claimed | Fact::Started | Fact::LeaseExpired) {
            attributes.push(("seaway.lease", u64::from(row.n).into()));
        }
        let outcome = row.outcome.map(|outcome| ("seaway.outcome", outcome.as_str().into()));
        attributes.extend(outcome);
        open.note((row.at, row.fact.as_str()), attributes);
    }
}

/// Whether the deployment, and the run that a record is in, go on from there if they were over.
fn opens(row: &Row) -> bool {
    match (row.kind, row.fact) {
        (
            Kind::PipelineStarted
            | Kind::StageStarted
            | Kind::SequenceTriggered
            | Kind::SequenceStarted,
            Fact::Finished,
        )
        | (_, Fact::Dispatched | Fact::Retried) => true,
        // What a person skips counts as done: what had failed around it goes on.
        (_, Fact::Skipped) => &*row.by != "seaway",
        _ => false,
    }
}

fn why(row: &Row) -> Option<String> {
    row.open().ok()?.reason().map(ToString::to_string)
}

/// Who took a task that only one may take.
fn holder(row: &Row) -> Option<String> {
    match *row.open().ok()?.detail? {
        Detail::Lease { executor, .. } => Some(executor.to_string()),
        _ => None,
    }
}

fn target(place: Place<'_>) -> Vec<(&'static str, Value)> {
    vec![("seaway.target", place.target.into())]
}
