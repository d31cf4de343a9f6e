use seaway_model::{Attempt, DeploymentId, Fact, Kind, Name, Revision, TargetTable, Timestamp};

use super::trigger::Ship;
use crate::record::{Actor, Detail, Record};
use crate::schedule::{Draft, Pen};
use crate::state::{Course, Deployment, Status};
use crate::structure::StructureChange;
use crate::{Command, Kernel, Refusal, Reply};

impl Kernel {
    /// Carries a command out: its records go to `out`, each folded already. A command that is
    /// refused changes nothing.
    pub fn decide(
        &mut self,
        command: &Command,
        now: Timestamp,
        by: &Actor,
        out: &mut Vec<Record>,
    ) -> Result<Reply, Refusal> {
        if let Actor::Named(name) = by
            && (!is_plain(name, Refusal::MAX_ACTOR) || &**name == Actor::Seaway.as_str())
        {
            return Err(Refusal::BadActor((&**name).into()));
        }
        let now = now.max(self.time);
        self.volatile.now = now;
        let pen = &mut Pen { now, by, out };
        match command {
            Command::ChangeStructure(change) => self.change_structure(change, pen),
            Command::Apply { structure, services, documents } => {
                self.apply_documents(structure.as_ref(), services, documents, pen)
            }
            Command::Start { deployment, service, version, known } => {
                self.start(*deployment, (service, version), *known, pen)
            }
            Command::Trigger { deployment, stage, sequence, service, version, known, data } => {
                let (deployment, known) = (*deployment, *known);
                let ship = Ship { deployment, service, version, known };
                self.trigger(ship, (stage, sequence), data.as_deref(), pen)
            }
            Command::Happen { deployment, name, stage, service, version, known, data } => {
                let (deployment, known) = (*deployment, *known);
                let ship = Ship { deployment, service, version, known };
                self.happen(ship, (name, stage.as_ref()), data.as_deref(), pen)
            }
            Command::Register { executor, subscriptions, ttl } => {
                self.register(executor, subscriptions, *ttl, pen)
            }
            Command::Leave { executor } => self.leave(executor, pen),
            Command::Claim { step, executor, ttl } => self.claim(*step, executor, *ttl, pen),
            Command::Take { executor, max, ttl } => self.take(executor, *max, *ttl, pen),
            Command::GiveBack { step, fence } => self.give_back_lease(*step, *fence, pen),
            Command::Approve { step, outcome, comment } => {
                self.approve(*step, *outcome, comment.as_deref(), pen)
            }
            Command::Report { step, fence, report, answer } => {
                self.report((*step, *fence), *report, answer, pen)
            }
            Command::Retry { step, data } => self.retry(*step, data.as_deref(), pen),
            Command::Skip { step, reason } => self.skip(*step, reason, pen),
            Command::Pause { deployment } => self.pause(*deployment, pen),
            Command::Resume { deployment } => self.resume(*deployment, pen),
            Command::Abort { deployment } => self.abort(*deployment, pen),
        }
    }

    pub(super) fn change_structure(
        &mut self,
        change: &StructureChange,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        change.apply_to(&self.world.structure)?;
        self.fire_all(pen);
        let detail = Some(Box::new(Detail::Change(change.clone())));
        let draft = Draft { detail, ..Draft::new(Fact::StructureChanged) };
        self.write_project(Kind::Structure, draft, pen);
        Ok(self.done())
    }

    pub(super) fn start(
        &mut self,
        id: DeploymentId,
        (service, version): (&Name, &str),
        known: Option<Revision>,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        if !is_plain(version, Refusal::MAX_VERSION) {
            return Err(Refusal::BadVersion);
        }
        if self.world.structure.stages.is_empty() {
            return Err(Refusal::NoStructure);
        }
        if !self.documents.takes(service) {
            let known = self.documents.services().take(10).cloned().collect();
            return Err(Refusal::UnknownService { service: service.clone(), known });
        }
        if self.deployments.contains_key(&id) {
            return Err(Refusal::DeploymentExists(id));
        }
        if self.deployments.len() >= Refusal::MAX_IN_PROGRESS {
            return Err(Refusal::TooManyInProgress);
        }
        let recent = || self.recent.find(service, version);
        let revision = known.or_else(recent).unwrap_or(self.last_revision.next());
        let (service, version) = (service.clone(), version.into());
        let draft = Draft {
            outcome: Some(seaway_model::Outcome::Pass),
            detail: Some(Box::new(Detail::Deploys { service, version })),
            ..Draft::new(Fact::Finished)
        };
        let root = TargetTable::ROOT;
        self.write((Some(id), Some(revision), root, Kind::PipelineStarted, Attempt(1)), draft, pen);
        Ok(Reply::Started { at: self.head, deployment: id, revision })
    }

    fn pause(&mut self, id: DeploymentId, pen: &mut Pen<'_>) -> Result<Reply, Refusal> {
        let deployment = self.open_deployment(id)?;
        match deployment.course {
            Course::Running => {}
            Course::Paused { .. } => return Err(Refusal::AlreadyPaused(id)),
            Course::Aborting { .. } => return Err(Refusal::Aborting(id)),
        }
        let n = deployment.pauses + 1;
        self.change_course(id, Draft { n, ..Draft::new(Fact::Paused) }, pen)
    }

    fn resume(&mut self, id: DeploymentId, pen: &mut Pen<'_>) -> Result<Reply, Refusal> {
        let deployment = self.open_deployment(id)?;
        match deployment.course {
            Course::Paused { .. } => {}
            Course::Running => return Err(Refusal::NotPaused(id)),
            Course::Aborting { .. } => return Err(Refusal::Aborting(id)),
        }
        let n = deployment.pauses;
        self.change_course(id, Draft { n, ..Draft::new(Fact::Resumed) }, pen)
    }

    fn abort(&mut self, id: DeploymentId, pen: &mut Pen<'_>) -> Result<Reply, Refusal> {
        let deployment = self.open_deployment(id)?;
        if let Course::Aborting { .. } = deployment.course {
            return Err(Refusal::Aborting(id));
        }
        self.change_course(id, Draft::new(Fact::Aborted), pen)
    }

    fn change_course(
        &mut self,
        id: DeploymentId,
        draft: Draft,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        self.emit_at(id, (TargetTable::ROOT, Kind::Deployment), draft, pen);
        Ok(self.done())
    }

    /// A deployment that is in memory and has not ended.
    pub(super) fn open_deployment(&self, id: DeploymentId) -> Result<&Deployment, Refusal> {
        let deployment = self.loaded(id)?;
        match deployment.finish.status() {
            Status::Superseded => Err(Refusal::Superseded(id)),
            _ if deployment.has_ended() => Err(Refusal::Ended(id)),
            _ => Ok(deployment),
        }
    }

    pub(super) fn loaded(&self, id: DeploymentId) -> Result<&Deployment, Refusal> {
        self.deployments.get(&id).ok_or(Refusal::NotLoaded(id))
    }

    pub(super) fn done(&self) -> Reply {
        Reply::Done { at: self.head }
    }
}

/// Text that every store can keep and every terminal can show.
pub(super) fn is_plain(text: &str, limit: usize) -> bool {
    !text.is_empty() && text.len() <= limit && !text.contains(char::is_control)
}
