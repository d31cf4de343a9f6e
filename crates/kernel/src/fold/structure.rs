use std::collections::BTreeSet;
use std::sync::Arc;

use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Seq, TargetId, TargetTable};

use super::apply::IllegalRecord;
use super::order::stage_above;
use crate::Kernel;
use crate::record::{Detail, Record};
use crate::state::{
    Cause, Deployment, Ghost, Ground, Origin, PermitKey, RunKey, Seen, Status, World,
};
use crate::structure::{self, On, Structure, Trigger};

impl Kernel {
    pub(super) fn fold_structure(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        let seq = record.seq;
        let Some(Detail::Change(change)) = record.detail.as_deref() else {
            return Err(IllegalRecord::Incomplete { seq });
        };
        let old = self.world.structure.clone();
        let new = change.apply_to(&old).map_err(|_invalid| IllegalRecord::Structure { seq })?;
        // Structural changes do not concern what has ended; whoever needs it brings it back.
        self.drop_revived(|_| true);
        let left = self.note_departed(&new);
        self.world.adopt(new, seq, &mut self.targets);
        self.permits.clear_lines();
        let ids: Vec<DeploymentId> = self.by_start.values().copied().collect();
        for id in ids {
            self.restructure(id, &old, &left);
        }
        Ok(())
    }

    /// Fits one deployment to the structure as it is now.
    fn restructure(&mut self, id: DeploymentId, old: &Structure, left: &[u32]) {
        let gone = self.close_causes(id);
        self.alarms.clear_delays(id);
        let deployment = self.deployments.get_mut(&id).expect("every start has its deployment");
        let (world, targets, seq) = (&self.world, &mut self.targets, self.head);
        deployment.keep_ghosts(world, left, targets);
        let keys: Vec<RunKey> = deployment.runs.keys().copied().collect();
        for key in keys {
            let run = deployment.runs.get_mut(&key).expect("the key is from the map");
            let definition = run.definition;
            let current = world.current.get(&(key.stage, key.sequence));
            // What was triggered and has ended stays as it was.
            let over = run.origin.is_some() && run.finish().is_settled();
            if !run.pinned && !over {
                let stays = run.withdrawn && run.origin.is_some();
                run.withdrawn = stays || current.is_none() || gone.contains(&key);
                run.definition = current.copied().unwrap_or(run.definition);
            }
            let redefined = run.definition != definition;
            let name = world.stages.name(key.stage);
            let same = match (old.stages.get(name), world.stage(key.stage)) {
                (Some(old), Some(new)) => Arc::ptr_eq(old, new),
                (before, after) => before.is_none() && after.is_none(),
            };
            if redefined || !same {
                deployment.reshape(world, key, seq, targets);
            }
        }
        deployment.walk(&mut Ground { world, targets, seq });
        deployment.prune_causes(world);
        let rank = deployment.rank();
        self.grant_batches(id, old);
        self.release_departed(id);
        self.release_while_paused(id);
        self.active.insert(rank);
    }

    /// What happened before a change fires nothing that the change brings, except in place of a run
    /// that it withdraws. Tells which runs it withdraws.
    fn close_causes(&mut self, id: DeploymentId) -> BTreeSet<RunKey> {
        let deployment = &self.deployments[&id];
        let mut gone = BTreeSet::new();
        for (key, run) in &deployment.runs {
            let Some(Origin::Cause { at, on }) = &run.origin else { continue };
            let open = !run.pinned && !run.withdrawn && !run.finish().is_settled();
            if let Some(cause) = deployment.causes.get(at)
                && open
                && !planted(Bug::WithdrawnStarts)
                && !self.still_derives(deployment, (*at, cause), (*key, on))
            {
                gone.insert(*key);
            }
        }
        let deployment = self.deployments.get_mut(&id).expect("it was just found");
        for cause in deployment.causes.values_mut() {
            cause.open = cause.runs.iter().any(|key| gone.contains(key));
        }
        gone
    }

    /// Whether the newest structure still triggers a run on its cause.
    fn still_derives(
        &self,
        deployment: &Deployment,
        (at, cause): (Seq, &Cause),
        (key, on): (RunKey, &Trigger),
    ) -> bool {
        let Some(definition) = self.world.current.get(&(key.stage, key.sequence)) else {
            return false;
        };
        let triggers = &self.world.definitions[*definition as usize].triggers;
        let mut entries = (0..).zip(triggers);
        let seen = Seen::new(at, cause);
        entries.any(|(position, trigger)| {
            // A join has fired: its events count no longer, so only the entry itself is asked for.
            let same = trigger == on;
            let plain = matches!(trigger.on, On::Event(_));
            let entry = (key.stage, key.sequence, position);
            same || plain
                && self.world.names(cause, trigger)
                && deployment.derives(&self.world, &seen, entry, trigger)
        })
    }

    /// A batch that is put around a stage includes those who are in it: they would otherwise wait
    /// for somebody who waits for them.
    fn grant_batches(&mut self, id: DeploymentId, old: &Structure) {
        let deployment = self.deployments.get_mut(&id).expect("every start has its deployment");
        let holder = deployment.holder(seaway_model::TargetId(0));
        for (&number, stage) in &mut deployment.stages {
            let excludes = |stage: Option<&Arc<structure::Stage>>| {
                let batch = stage.and_then(|stage| stage.batch.as_ref());
                batch.is_some_and(|batch| batch.policy.excludes())
            };
            let before = excludes(old.stages.get(self.world.stages.name(number)));
            let fresh = !before && excludes(self.world.stage(number));
            let inside = stage.started.is_finished() && !stage.finish.is_settled();
            if inside && !stage.holds && fresh {
                stage.holds = true;
                self.permits.acquire(PermitKey::Stage(number), holder, &deployment.service);
            }
        }
    }

    /// Remembers the stages that a change removes, as they were, and names them.
    fn note_departed(&mut self, new: &Structure) -> Vec<u32> {
        let world = &mut self.world;
        let old = world.structure.stages.iter();
        let removed = old.filter(|(name, _)| !new.stages.contains_key(*name));
        let mut left = Vec::new();
        for (name, stage) in removed {
            let number = world.stages.find(name.as_str()).expect("stages are numbered");
            let followers = world.followers.get(&number).cloned().unwrap_or_default();
            let members = world.members.get(&number).cloned().unwrap_or_default();
            let ghost = Ghost { stage: stage.clone(), followers, members };
            world.departed.insert(number, ghost);
            left.push(number);
        }
        left
    }
}

impl Deployment {
    /// A stage that left stays for a deployment that is in it, or that came to grief in it.
    pub(super) fn keep_ghosts(&mut self, world: &World, left: &[u32], targets: &TargetTable) {
        self.ghosts.retain(|number, _| world.stage(*number).is_none());
        for number in left {
            let Some(state) = self.stages.get(number) else { continue };
            let begun = self.runs_in(*number).any(|run| run.pinned);
            let broken = matches!(state.finish.status(), Status::Failed | Status::Superseded);
            let open = !state.finish.is_complete() || self.needs_stage(*number, targets);
            if open && (begun || broken) {
                self.ghosts.insert(*number, world.departed[number].clone());
            }
        }
        for ghost in self.ghosts.values_mut() {
            ghost.followers.retain(|number| world.stage(*number).is_some());
        }
    }

    /// Whether something in a stage is in flight or may be retried.
    pub(super) fn needs_stage(&self, number: u32, targets: &TargetTable) -> bool {
        let stage = self.stages[&number].target;
        let inside = |target: TargetId| stage_above(targets, target) == Some(stage);
        let mut attic = self.attic.iter();
        self.runs_in(number).any(|run| run.counts.in_flight > 0 || run.counts.failed > 0)
            || attic.any(|((target, _), it)| (it.in_flight() || it.has_failed()) && inside(*target))
    }
}
