use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_kernel::{Detail, Record, Slot, Stage, Step, Structure};
use seaway_model::{
    Attempt, DeploymentId, Digest, Epoch, Fact, Fence, Kind, Name, Seq, TargetDef, TargetId,
    Timestamp,
};
use seaway_wire::{ChainCheck, Row};

use super::born::{Entry, Yard};
use super::ledger::{Course, Life};
use super::once::Once;
use super::papers::Papers;
use super::paths::Paths;
use super::permits::Permits;
use super::places::Places;
use super::shares::Crew;
use super::violation::{Rule, Violation};

type Key = (Option<DeploymentId>, TargetId, Kind, Fact, Attempt, u32);

/// Reads a log record by record, as it becomes durable.
#[derive(Debug)]
pub(crate) struct Verifier {
    pub(super) paths: Paths,
    pub(super) structure: Structure,
    /// Stages that left, as they were when they did.
    pub(super) departed: BTreeMap<Name, Arc<Stage>>,
    pub(super) introduced: BTreeMap<Slot, Seq>,
    pub(super) lives: BTreeMap<DeploymentId, Life>,
    pub(super) permits: Permits,
    pub(super) places: Places,
    pub(super) crew: Crew,
    /// Since when each join is in the structure.
    pub(super) join_since: BTreeMap<Entry, Seq>,
    pub(super) denied: BTreeSet<DeploymentId>,
    /// The leases that somebody was told of.
    pub(super) handed_out: BTreeSet<(Step, Fence)>,
    pub(super) once: Once,
    pub(super) papers: Papers,
    /// What was durable once, by position.
    pub(super) durable: Vec<(Record, Digest)>,
    chain: ChainCheck,
    at: Timestamp,
    keys: BTreeSet<Key>,
    newest_owner: Epoch,
}

impl Verifier {
    pub(crate) fn new(project: &Name) -> Self {
        Self {
            paths: Paths::new(project),
            structure: Structure::default(),
            departed: BTreeMap::new(),
            introduced: BTreeMap::new(),
            lives: BTreeMap::new(),
            permits: Permits::default(),
            places: Places::default(),
            crew: Crew::new(),
            join_since: BTreeMap::new(),
            denied: BTreeSet::new(),
            handed_out: BTreeSet::new(),
            once: Once::default(),
            papers: Papers::default(),
            durable: Vec::new(),
            chain: ChainCheck::from_genesis(),
            at: Timestamp::default(),
            keys: BTreeSet::new(),
            newest_owner: Epoch(0),
        }
    }

    pub(crate) fn define(&mut self, def: &TargetDef) -> Result<(), Violation> {
        self.paths.define(def)
    }

    /// An owner took the project; nobody older may write from now on.
    pub(crate) fn owned(&mut self, epoch: Epoch) {
        self.newest_owner = self.newest_owner.max(epoch);
    }

    /// A row that reached the log of the store, durable or not.
    pub(crate) fn written(&self, row: &Row, epoch: Epoch) -> Result<(), Violation> {
        if epoch < self.newest_owner {
            let newest = self.newest_owner;
            let detail = format!("{} was written by owner {epoch} while {newest} owns it", row.seq);
            return Err(Violation::new(Rule::OneOwner, detail));
        }
        Ok(())
    }

    pub(crate) fn newest_owner(&self) -> Epoch {
        self.newest_owner
    }

    /// The last record that was fed.
    pub(crate) fn last(&self) -> &Record {
        &self.durable.last().expect("it is asked for after a record was fed").0
    }

    /// How many targets are defined, apart from the project itself.
    pub(crate) fn targets(&self) -> usize {
        self.paths.table.len() - 1
    }

    pub(crate) fn has_started(&self, deployment: DeploymentId) -> bool {
        self.lives.contains_key(&deployment)
    }

    pub(crate) fn stages(&self) -> usize {
        self.structure.stages.len()
    }

    pub(crate) fn path(&self, target: TargetId) -> String {
        match self.paths.table.try_get(target) {
            Some(_) => self.paths.text(target),
            None => target.to_string(),
        }
    }

    /// The name of a task, without its number.
    pub(crate) fn task_name(&self, target: TargetId) -> Option<String> {
        let node = self.paths.table.try_get(target)?;
        let part = self.paths.table.part(node.part);
        Some(part.split_once(':').map_or(part, |(name, _)| name).to_owned())
    }

    pub(crate) fn head(&self) -> Seq {
        Seq(self.durable.len() as u64)
    }

    /// The next durable row.
    pub(crate) fn feed(&mut self, row: &Row) -> Result<(), Violation> {
        let path = self.paths.table.path(row.target);
        let broken = |error| Violation::new(Rule::Chain, format!("{error}"));
        self.chain.check(row, &path).map_err(broken)?;
        if row.at < self.at {
            let detail = format!("{} is from {:?}, after {:?}", row.seq, row.at, self.at);
            return Err(Violation::new(Rule::TimeNeverBack, detail));
        }
        self.at = row.at;
        let key = (row.deployment, row.target, row.kind, row.fact, row.attempt, row.n);
        if !self.keys.insert(key) {
            let path = self.paths.text(row.target);
            let detail = format!("{} repeats {path} {} {}", row.seq, row.kind, row.fact);
            return Err(Violation::new(Rule::UniqueKey, detail));
        }
        let unreadable = |error| Violation::new(Rule::Chain, format!("{error}"));
        let record = row.open().map_err(unreadable)?;
        self.durable.push((record.clone(), row.hash));
        self.take(&record).map_err(|violation| {
            let path = self.paths.text(record.target);
            let about = format!("{} {path} {} {}", record.seq, record.kind, record.fact);
            let revision = record.revision.unwrap_or_default();
            Violation::new(violation.rule, format!("{about} r{revision}: {}", violation.detail))
        })
    }

    fn take(&mut self, record: &Record) -> Result<(), Violation> {
        self.check_once(record)?;
        match (record.kind, record.detail.as_deref()) {
            (Kind::Structure, Some(Detail::Change(change))) => {
                let ids: Vec<DeploymentId> = self.lives.keys().copied().collect();
                ids.into_iter().try_for_each(|id| self.check_nothing_due(id))?;
                let changed = change.apply_to(&self.structure);
                let invalid = |error| Violation::new(Rule::Order, format!("{error}"));
                self.restructure(changed.map_err(invalid)?, record.seq);
                Ok(())
            }
            (Kind::Documents, _) => self.papers(record),
            (Kind::Executor, _) => self.muster(record),
            (Kind::Event, _) => self.heard(record),
            (Kind::PipelineStarted, Some(Detail::Deploys { service, .. })) => {
                self.start(record, service)
            }
            (Kind::Deployment, _) => self.steer(record),
            _ => self.step(record),
        }
    }

    fn start(&mut self, record: &Record, service: &Name) -> Result<(), Violation> {
        let (Some(id), Some(revision)) = (record.deployment, record.revision) else {
            return Err(Violation::new(Rule::Order, "a start lacks its deployment"));
        };
        self.check_service(service)?;
        if self.denied.contains(&id) {
            return Err(Violation::new(Rule::ToldAfterDurable, "its caller was told otherwise"));
        }
        let life = Life {
            revision,
            started: record.seq,
            service: service.clone(),
            course: Course::Running,
            steps: BTreeMap::new(),
            runs: BTreeMap::new(),
            yard: Yard::default(),
        };
        match self.lives.insert(id, life) {
            Some(_) => Err(Violation::new(Rule::Order, "a deployment starts twice")),
            None => Ok(()),
        }
    }

    fn steer(&mut self, record: &Record) -> Result<(), Violation> {
        let id = record.deployment.unwrap_or(DeploymentId(uuid::Uuid::nil()));
        let Some(life) = self.lives.get_mut(&id) else {
            return Err(Violation::new(Rule::Order, "the deployment is not known"));
        };
        let (before, after) = match record.fact {
            Fact::Paused => (Course::Running, Course::Paused),
            Fact::Resumed => (Course::Paused, Course::Running),
            _ => (life.course, Course::Aborting),
        };
        if life.course != before || life.course == Course::Aborting {
            return Err(Violation::new(Rule::Order, format!("it was {:?}", life.course)));
        }
        life.course = after;
        if after == Course::Aborting {
            life.yard.due.clear();
        }
        self.permits.release_paused(id, life, &mut self.paths);
        self.step_aside(id);
        Ok(())
    }
}
