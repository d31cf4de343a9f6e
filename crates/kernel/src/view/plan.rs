use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use seaway_model::{DeploymentId, Fact, Kind, Level, Name, Outcome, Revision, TargetId, Timestamp};

use crate::kernel::Pace;
use crate::record::{Actor, Reason, Record, Step};
use crate::schedule::{Draft, Pen};
use crate::state::{Course, Run, StepKey, known_key_of};
use crate::{Command, Kernel, Refusal, StructureChange};

/// What a change of the structure means for everything under way, if all goes well from here on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Those that are affected, oldest first.
    pub affected: Vec<Affected>,
    pub unaffected: usize,
    /// Whether everything was followed to its end within the bounds.
    pub whole: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affected {
    pub deployment: DeploymentId,
    pub revision: Revision,
    pub service: Name,
    pub version: Box<str>,
    /// By path and kind.
    pub changes: Vec<Foreseen>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Foreseen {
    pub path: String,
    pub kind: Kind,
    pub fate: Fate,
}

/// What becomes of a step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It will be done, which it would not have been.
    Done,
    /// It will be skipped, for this reason.
    Skipped(Reason),
    /// It will not be met any more.
    Lost,
    /// Its run is withdrawn, or superseded, before it begins.
    Ended,
}

/// By deployment, path and kind.
type Future = BTreeMap<DeploymentId, BTreeMap<(String, Kind), Fate>>;

/// Far above what a person would read; a plan says so when it stops there.
const MAX_RECORDS: usize = 2_000_000;

impl Kernel {
    /// Compares the two futures of everything under way: with a change and without it, both under
    /// the assumption that whatever is done passes, and that nobody stays paused. Nothing happens.
    pub fn plan(&self, change: &StructureChange, now: Timestamp) -> Result<Plan, Refusal> {
        let mut changed = self.clone();
        let mut out = Vec::new();
        let by = Actor::named("plan");
        changed.decide(&Command::ChangeStructure(change.clone()), now, &by, &mut out)?;
        let (with, whole) = changed.foresee(now, out);
        let (without, also_whole) = self.clone().foresee(now, Vec::new());
        let mut plan = Plan { affected: Vec::new(), unaffected: 0, whole: whole && also_whole };
        let open = self.by_start.values().map(|id| &self.deployments[id]);
        for deployment in open.filter(|deployment| !deployment.has_ended()) {
            let nothing = BTreeMap::new();
            let id = deployment.id;
            let changes = differences(
                without.get(&id).unwrap_or(&nothing),
                with.get(&id).unwrap_or(&nothing),
            );
            if changes.is_empty() {
                plan.unaffected += 1;
                continue;
            }
            plan.affected.push(Affected {
                deployment: id,
                revision: deployment.revision,
                service: deployment.service.clone(),
                version: deployment.version.clone(),
                changes,
            });
        }
        Ok(plan)
    }

    /// Lets everything go on and pass until nothing moves. Tells what was done, and whether that
    /// was all.
    fn foresee(mut self, mut now: Timestamp, mut out: Vec<Record>) -> (Future, bool) {
        let mut future = Future::new();
        let ids: Vec<DeploymentId> = self.deployments.keys().copied().collect();
        let mut pen = Pen { now, by: &Actor::Seaway, out: &mut out };
        for id in ids {
            if let Course::Paused { .. } = self.deployments[&id].course {
                let key = (seaway_model::TargetTable::ROOT, Kind::Deployment);
                let n = self.deployments[&id].pauses;
                self.emit_at(id, key, Draft { n, ..Draft::new(Fact::Resumed) }, &mut pen);
            }
        }
        let mut made = 0;
        while made < MAX_RECORDS {
            let pace = self.tick(now, 10_000, &mut out);
            made += out.len();
            self.note(&mut future, std::mem::take(&mut out));
            self.sweep();
            if pace == Pace::More {
                continue;
            }
            let mut pen = Pen { now, by: &Actor::Seaway, out: &mut out };
            if !self.pass_in_flight(&mut pen) {
                match self.alarms.first() {
                    Some((at, _, _)) => now = now.max(at),
                    None => return (future, true),
                }
            }
        }
        (future, false)
    }

    /// Passes everything in flight. Tells whether there was anything.
    fn pass_in_flight(&mut self, pen: &mut Pen<'_>) -> bool {
        let mut flying: Vec<(DeploymentId, StepKey)> = Vec::new();
        for id in self.by_start.values() {
            let busy = |run: &&Run| run.counts.in_flight > 0;
            for run in self.deployments[id].runs.values().filter(busy) {
                let cells = (0..run.shape.len() as u32).filter(|&cell| run.cell(cell).in_flight());
                let keys = cells.filter_map(|cell| {
                    known_key_of(&run.shape, run.target, cell, &self.targets).ok()
                });
                flying.extend(keys.map(|key| (*id, key)));
            }
        }
        for (id, key) in &flying {
            let offer = self.deployments[id].offers.get(key);
            let open = offer.iter().flat_map(|it| &it.parts).filter(|part| part.end.is_none());
            let shares: Vec<StepKey> = open.map(|part| (part.target, key.1)).collect();
            // The scheduler ends a task itself once everybody has answered.
            let steps = if shares.is_empty() { vec![*key] } else { shares };
            for step in steps {
                let outcome = Some(Outcome::Pass);
                self.emit_at(*id, step, Draft { outcome, ..Draft::new(Fact::Finished) }, pen);
            }
        }
        !flying.is_empty()
    }

    fn note(&self, future: &mut Future, records: Vec<Record>) {
        for record in records {
            let Some((step, fate)) = record.step().zip(fate(&record)) else { continue };
            let Some(target) = self.shown_target(step) else { continue };
            let path = without_number(&self.targets.path(target).to_string());
            let steps = future.entry(step.deployment).or_default();
            if step.kind == Kind::SequenceTriggered {
                // It runs after all.
                steps.remove(&(path.clone(), Kind::SequenceFinished));
            }
            steps.insert((path, step.kind), fate);
        }
    }

    /// Where a step is shown: members by their group, executors not at all.
    fn shown_target(&self, step: Step) -> Option<TargetId> {
        let node = self.targets.get(step.target);
        match node.level {
            Level::Executor => None,
            Level::Member => Some(node.parent),
            _ => Some(step.target),
        }
    }
}

/// Which run of a sequence it is does not matter to whoever reads a plan.
fn without_number(path: &str) -> String {
    let parts = path.split('/').map(|part| part.split_once('#').map_or(part, |(name, _)| name));
    parts.collect::<Vec<&str>>().join("/")
}

/// What a record makes of its step, if a plan shows it.
fn fate(record: &Record) -> Option<Fate> {
    let shown = matches!(
        record.kind,
        Kind::SequenceTriggered
            | Kind::TaskDone
            | Kind::ArtifactRegistered
            | Kind::ArtifactReplicated
            | Kind::MemberDeployed
            | Kind::MemberTested
            | Kind::SequenceFinished
    );
    let ends_run = record.kind == Kind::SequenceFinished;
    match (record.fact, record.reason()) {
        (Fact::Cancelled | Fact::Superseded, _) if ends_run => Some(Fate::Ended),
        _ if !shown || ends_run => None,
        (Fact::Finished, _) => Some(Fate::Done),
        // What does not apply does not concern anybody.
        (Fact::Skipped, Some(Reason::Condition)) => None,
        (Fact::Skipped, Some(reason)) => Some(Fate::Skipped(reason.clone())),
        _ => None,
    }
}

fn differences(
    without: &BTreeMap<(String, Kind), Fate>,
    with: &BTreeMap<(String, Kind), Fate>,
) -> Vec<Foreseen> {
    let keys: BTreeSet<&(String, Kind)> = without.keys().chain(with.keys()).collect();
    let changes = keys.into_iter().filter_map(|key| {
        let fate = match (without.get(key), with.get(key)) {
            (before, after) if before == after => return None,
            (_, Some(after)) => after.clone(),
            (Some(Fate::Done), None) => Fate::Lost,
            _ => return None,
        };
        Some(Foreseen { path: key.0.clone(), kind: key.1, fate })
    });
    changes.collect()
}

impl fmt::Display for Foreseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind, .. } = self;
        match (&self.fate, kind) {
            (Fate::Done, Kind::SequenceTriggered) => write!(f, "will run {path}"),
            (Fate::Done, Kind::TaskDone) => write!(f, "will do {path}"),
            (Fate::Done, kind) => write!(f, "will do {path} {kind}"),
            (Fate::Skipped(reason), _) => write!(f, "skips {path} ({reason})"),
            (Fate::Lost, Kind::SequenceTriggered) => write!(f, "loses {path}"),
            (Fate::Lost, _) => write!(f, "will not do {path}"),
            (Fate::Ended, _) => write!(f, "{path} is withdrawn or superseded"),
        }
    }
}
