use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Fact, Kind, Level, Revision, Seq, Timestamp};

use super::trigger::is_trigger;
use crate::record::{Detail, Record};
use crate::state::{Cell, Course, Deployment, Ground};
use crate::{Effect, Kernel, Step};

/// A record that cannot follow the ones before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalRecord {
    #[error("record {found} cannot follow {}", expected.0 - 1)]
    OutOfOrder { expected: Seq, found: Seq },
    #[error("record {seq} is about a deployment that is not in memory")]
    UnknownDeployment { seq: Seq },
    #[error("record {seq} is about a target or step that does not exist")]
    UnknownStep { seq: Seq },
    #[error("record {seq} changes the structure in a way that is not allowed")]
    Structure { seq: Seq },
    #[error("record {seq} lacks what its kind needs")]
    Incomplete { seq: Seq },
}

impl Kernel {
    /// Folds one record. This is the only way in which state changes.
    pub fn apply(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        let (expected, found) = (self.head.next(), record.seq);
        if found != expected {
            return Err(IllegalRecord::OutOfOrder { expected, found });
        }
        self.head = record.seq;
        let last = if planted(Bug::TimeGoesBack) { Timestamp(0) } else { record.at };
        self.time = last.max(self.time);
        match (record.kind, record.fact) {
            (Kind::Structure, Fact::StructureChanged) => self.fold_structure(record),
            (Kind::PipelineStarted, Fact::Finished) => self.fold_start(record),
            (Kind::Documents, _) => self.fold_documents(record),
            (Kind::Executor, _) => self.fold_executor(record),
            (Kind::Event, _) => self.fold_event(record),
            (Kind::SequenceTriggered, _) if is_trigger(record) => self.fold_trigger(record),
            (Kind::Deployment, _) => self.fold_course(record),
            _ => self.fold_step(record),
        }?;
        if !self.revived.is_empty() {
            self.drop_revived(|id| record.deployment.is_none_or(|it| it == id));
        }
        Ok(())
    }

    /// In replay: the deployment whose records must be revived before this one can be applied.
    #[must_use]
    pub fn absent(&self, record: &Record) -> Option<DeploymentId> {
        let id = record.deployment?;
        let missing = record.kind != Kind::PipelineStarted && !self.deployments.contains_key(&id);
        missing.then_some(id)
    }

    /// What a record, once durable, means for the outside.
    #[must_use]
    pub fn effect(&self, record: &Record) -> Option<Effect> {
        let step: Step = record.step()?;
        match (record.kind, record.fact) {
            (_, Fact::Dispatched | Fact::LeaseExpired) => {
                // The share of one executor is offered as the task that it is a share of.
                let node = self.targets.try_get(step.target);
                let share = node.filter(|node| node.level == Level::Executor);
                let target = share.map_or(step.target, |node| node.parent);
                Some(Effect::Offer { step: Step { target, ..step }, attempt: record.attempt })
            }
            (Kind::PipelineFinished, Fact::Finished | Fact::Failed | Fact::Superseded)
            | (Kind::PipelineFinished, Fact::Cancelled) => {
                Some(Effect::Ended { deployment: step.deployment })
            }
            (kind, Fact::Cancelled | Fact::Skipped) if !kind.is_marker() && record.n > 0 => {
                Some(Effect::Cancel { step, fence: record.fence() })
            }
            _ => None,
        }
    }

    fn fold_documents(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        let Some(Detail::Applies { documents, services }) = record.detail.as_deref() else {
            return Err(IllegalRecord::Incomplete { seq: record.seq });
        };
        self.documents.edit(documents, services, record.seq);
        Ok(())
    }

    fn fold_start(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        let id = record.deployment.ok_or(IllegalRecord::Incomplete { seq: record.seq })?;
        let mut deployment = self.new_deployment(record)?;
        self.note_revision(&deployment);
        let (world, targets) = (&self.world, &mut self.targets);
        deployment.walk(&mut Ground { world, targets, seq: record.seq });
        self.active.insert(deployment.rank());
        self.by_start.insert(record.seq, id);
        self.deployments.insert(id, deployment);
        Ok(())
    }

    pub(crate) fn new_deployment(&mut self, record: &Record) -> Result<Deployment, IllegalRecord> {
        let incomplete = || IllegalRecord::Incomplete { seq: record.seq };
        let Some(Detail::Deploys { service, version }) = record.detail.as_deref() else {
            return Err(incomplete());
        };
        Ok(Deployment {
            id: record.deployment.ok_or_else(incomplete)?,
            revision: record.revision.ok_or_else(incomplete)?,
            started: record.seq,
            service: service.clone(),
            version: version.clone(),
            service_part: self.targets.intern_part(service.as_str()),
            course: Course::Running,
            finish: Cell::default(),
            stages: Default::default(),
            runs: Default::default(),
            ghosts: Default::default(),
            attic: Default::default(),
            tries: Default::default(),
            leases: Default::default(),
            offers: Default::default(),
            backoffs: Default::default(),
            causes: Default::default(),
            joined: Default::default(),
            numbers: Default::default(),
            events: 0,
            refused: 0,
            pauses: 0,
            derived: Default::default(),
        })
    }

    fn note_revision(&mut self, deployment: &Deployment) {
        let revision: Revision = deployment.revision;
        self.last_revision = self.last_revision.max(revision);
        self.recent.note(&deployment.service, &deployment.version, revision);
    }
}
