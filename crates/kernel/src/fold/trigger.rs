use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Fact, Kind, Name, Outcome, Seq, TargetId};

use super::apply::IllegalRecord;
use super::revive::run_key;
use crate::Kernel;
use crate::flow::{Flow, Scope, object};
use crate::record::{Detail, Record};
use crate::state::{
    Cause, Deployment, Entry, Ground, Happened, Origin, Position, RunKey, Shape, Spot, Status,
};
use crate::structure::On;

impl Kernel {
    /// A run of a triggered stage comes into being, or is refused.
    pub(super) fn fold_trigger(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        let seq = record.seq;
        let id = record.deployment.ok_or(IllegalRecord::Incomplete { seq })?;
        let unknown = IllegalRecord::UnknownStep { seq };
        if !self.deployments.contains_key(&id) {
            return Err(IllegalRecord::UnknownDeployment { seq });
        }
        let key = run_key(&self.world, &self.targets, record.target).ok_or(unknown.clone())?;
        let on = match record.detail.as_deref() {
            Some(Detail::Triggered { on, .. }) => on.clone(),
            Some(Detail::Refused { on, .. }) => Some(on.clone()),
            _ => return Err(IllegalRecord::Incomplete { seq }),
        };
        let origin = match (record.cause, on) {
            (Some(at), Some(on)) => Origin::Cause { at, on },
            _ => Origin::Command,
        };
        self.note_fired(id, key, &origin, record);
        if let Some(Detail::Triggered { data, .. }) = record.detail.as_deref() {
            if !self.world.current.contains_key(&(key.stage, key.sequence)) {
                return Err(unknown);
            }
            self.begin_run(id, key, &origin, record);
            let deployment = self.deployments.get_mut(&id).expect("it was just found");
            deployment.note_number(key);
            let run = deployment.runs.get_mut(&key).ok_or(unknown)?;
            (run.flow, run.moved) = (Flow::new((&**data).into()), record.at);
        } else {
            let deployment = self.deployments.get_mut(&id).expect("it was just found");
            deployment.refused = record.n;
        }
        if let Origin::Cause { at, .. } = origin {
            self.settle_estate(id, at);
            let deployment = self.deployments.get_mut(&id).expect("it was just found");
            deployment.prune_causes(&self.world);
        }
        self.active.insert(self.deployments[&id].rank());
        Ok(())
    }

    /// A stage may become one whose runs are triggered: their numbers go on from those that the
    /// runs in it had before.
    pub(super) fn note_number(&mut self, id: DeploymentId, run: TargetId) {
        if let Some(key) = run_key(&self.world, &self.targets, run) {
            self.deployments.get_mut(&id).expect("it was just found").note_number(key);
        }
    }

    fn note_fired(&mut self, id: DeploymentId, key: RunKey, origin: &Origin, record: &Record) {
        let Origin::Cause { at, on } = origin else { return };
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        let mut again = false;
        if let Some(cause) = deployment.causes.get_mut(at) {
            cause.fired.insert((key.stage, key.sequence, on.clone()));
            if record.fact == Fact::Finished {
                cause.runs.push(key);
            }
            again = planted(Bug::FiredTwice) && cause.runs.len() == 1;
        }
        if let (Some(due), false) = (deployment.derived.firing.get_mut(at), again) {
            let entry = |it: &Entry| (it.0, it.1) == (key.stage, key.sequence);
            due.retain(|it| !entry(it) || self.world.trigger(*it) != Some(on));
            if due.is_empty() {
                deployment.derived.firing.remove(at);
            }
        }
        if let On::All(_) = on.on {
            deployment.joined.insert((key.stage, key.sequence, on.clone()), record.seq);
        }
    }

    fn begin_run(&mut self, id: DeploymentId, key: RunKey, origin: &Origin, record: &Record) {
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        let (world, seq) = (&self.world, record.seq);
        let ground = &mut Ground { world, targets: &mut self.targets, seq };
        deployment.make_stage(ground, key.stage);
        let stage = &deployment.stages[&key.stage];
        let fresh = !stage.reached || stage.finish.is_settled();
        match stage.finish.is_settled() {
            true => self.reopen_entry(id, key.stage),
            false => self.reopen_pipeline(id),
        }
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        let ground = &mut Ground { world: &self.world, targets: &mut self.targets, seq };
        deployment.ensure_run(ground.world, key, seq, ground.targets);
        deployment.inherit(key, origin);
        let since = match origin {
            Origin::Cause { at, .. } => {
                let cause = deployment.causes.get(at).map(|cause| &cause.event);
                match cause {
                    Some(Happened::Finished(parent)) => deployment.runs[parent].since,
                    _ => record.seq,
                }
            }
            Origin::Command => record.seq,
        };
        let run = deployment.runs.get_mut(&key).expect("its sequence is in the structure");
        (run.origin, run.since) = (Some(origin.clone()), since);
        run.set(Shape::TRIGGERED, Status::Passed);
        deployment.mark_stage(key.stage);
        deployment.derived.todo.remove(&Spot::stage_finished(key.stage));
        if fresh {
            deployment.reach_stage(ground, key.stage);
        } else {
            if deployment.stages[&key.stage].started.lets_through() {
                deployment.walk_run(ground.world, key);
            }
            deployment.refresh(ground, key.stage);
        }
    }

    /// A run that ended, or something outside, may start sequences.
    pub(super) fn note_end(&mut self, id: DeploymentId, spot: Spot, (outcome, at): (Outcome, Seq)) {
        let Position::Inside(key, cell) = spot.position() else { return };
        let deployment = &self.deployments[&id];
        let run = &deployment.runs[&key];
        if cell != run.shape.finish || !deployment.stages[&key.stage].triggered {
            return;
        }
        let stage = self.world.stages.name(key.stage);
        let definition = &self.world.definitions[run.definition as usize];
        let last = run.last_task(run.shape.tasks.len());
        let cause = Cause {
            event: Happened::Finished(key),
            outcome,
            last_task: last.map(|(task, _)| definition.tasks[task].name.clone()),
            data: "{}".into(),
            open: true,
            fired: Default::default(),
            runs: Vec::new(),
        };
        if self.world.entries(&cause).is_empty() {
            return;
        }
        let data = run.flow.at_end(outcome, self.scope(deployment, stage));
        self.add_cause(id, at, Cause { data: data.to_string().into(), ..cause });
    }

    pub(super) fn fold_event(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        let seq = record.seq;
        let id = record.deployment.ok_or(IllegalRecord::Incomplete { seq })?;
        let Some(Detail::Happened { name, stage, data }) = record.detail.as_deref() else {
            return Err(IllegalRecord::Incomplete { seq });
        };
        let deployment =
            self.deployments.get_mut(&id).ok_or(IllegalRecord::UnknownDeployment { seq })?;
        deployment.events = record.n;
        let rank = deployment.rank();
        let cause = received(name, stage.as_ref(), data);
        self.add_cause(id, seq, cause);
        self.active.insert(rank);
        Ok(())
    }

    fn add_cause(&mut self, id: DeploymentId, at: Seq, cause: Cause) {
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        deployment.causes.insert(at, cause);
        let due = deployment.dues(&self.world, at);
        if !due.is_empty() {
            deployment.derived.firing.insert(at, due);
        }
        deployment.prune_causes(&self.world);
    }

    /// A run that has begun or is over may have been the last that needed its cause.
    pub(super) fn forget_cause(&mut self, id: DeploymentId, key: RunKey) {
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        if let Some(Origin::Cause { at, .. }) = deployment.runs[&key].origin
            && deployment.causes.contains_key(&at)
        {
            deployment.prune_causes(&self.world);
        }
    }

    pub(crate) fn scope<'a>(&'a self, deployment: &'a Deployment, stage: &'a Name) -> Scope<'a> {
        let (service, version) = (&deployment.service, &*deployment.version);
        Scope { project: &self.project, stage, service, version }
    }

    /// Once everything that a failure triggers in its own stage has been triggered, the run that
    /// failed gives up what it kept for it.
    fn settle_estate(&mut self, id: DeploymentId, at: Seq) {
        let deployment = &self.deployments[&id];
        let Some(Happened::Finished(key)) = deployment.causes.get(&at).map(|it| it.event.clone())
        else {
            return;
        };
        self.release_ended(id, key);
    }
}

impl Deployment {
    /// A run that a failure triggers in the same stage enters under the permits of the run that
    /// failed.
    fn inherit(&mut self, key: RunKey, origin: &Origin) {
        let Origin::Cause { at, .. } = origin else { return };
        let Some(cause) = self.causes.get(at) else { return };
        let Happened::Finished(parent) = cause.event else {
            self.runs.get_mut(&key).expect("it was just made").exempt = true;
            return;
        };
        let exempt = parent.stage == key.stage && self.runs[&parent].exempt;
        self.runs.get_mut(&key).expect("it was just made").exempt = exempt;
        if cause.outcome != Outcome::Fail || parent.stage != key.stage {
            return;
        }
        let parent = &self.runs[&parent];
        let (holder, service) = (parent.holder, parent.holds_service);
        let mut inherited = parent.inherited.clone();
        if parent.holds_range && !inherited.contains(&parent.key.sequence) {
            inherited.push(parent.key.sequence);
        }
        let run = self.runs.get_mut(&key).expect("it was just made");
        (run.holder, run.holds_service, run.inherited) = (holder, service, inherited);
    }
}

/// What an event from outside causes.
pub(crate) fn received(name: &str, stage: Option<&Name>, data: &str) -> Cause {
    let result = object(data).and_then(|data| Some(data.get("result")?.as_str()?.to_owned()));
    let outcome = match result.as_deref() {
        Some("fail" | "failed") => Outcome::Fail,
        Some("warning") => Outcome::Warning,
        _ => Outcome::Pass,
    };
    Cause {
        event: Happened::Received { name: name.into(), stage: stage.cloned() },
        outcome,
        last_task: None,
        data: data.into(),
        open: true,
        fired: Default::default(),
        runs: Vec::new(),
    }
}

/// The kind under which triggers are recorded.
pub(super) fn is_trigger(record: &Record) -> bool {
    let told =
        matches!(record.detail.as_deref(), Some(Detail::Triggered { .. } | Detail::Refused { .. }));
    record.kind == Kind::SequenceTriggered && told
}
