use std::collections::BTreeSet;

use seaway_kernel::{Batch, Entry, Stage};
use seaway_model::{DeploymentId, Kind, Name, Outcome, TargetId};

use super::ledger::{Life, Status, StepKey};
use super::log::Verifier;
use super::paths::Spot;
use super::permits::Key;
use super::violation::Violation;

/// The reserved task that waits for a person.
const APPROVAL: &str = "approval";

impl Life {
    /// The run in whose name a run works.
    pub(super) fn root(&self, run: TargetId) -> TargetId {
        let born = self.runs.get(&run).and_then(|log| log.born.as_ref());
        born.map_or(run, |born| born.root)
    }
}

impl Verifier {
    /// A step of a triggered stage begins: one family works there for a service at a time.
    pub(super) fn enter_family(
        &mut self,
        id: DeploymentId,
        key: StepKey,
        (spot, name, stage): (&Spot, &Name, &Stage),
    ) -> Result<(), Violation> {
        let life = &self.lives[&id];
        let excluding = |batch: &&Batch| batch.policy.excludes();
        let exempt = life.yard.exempt.contains(&spot.stage_target);
        if let Some(batch) = stage.batch.as_ref().filter(excluding).filter(|_| !exempt) {
            let stage = Key::Stage(name.clone());
            self.permits.join(stage, ((id, None), key.0), batch.capacity)?;
        }
        if matches!(key.1, Kind::StageStarted | Kind::StageFinished) {
            return Ok(());
        }
        let holder = (id, Some(life.root(spot.run)));
        let service = Key::Service(name.clone(), life.service.clone());
        self.permits.join(service.clone(), (holder, key.0), 1)?;
        let run = life.runs.get(&spot.run);
        let number = self.task_number(life, spot);
        let definition = run.and_then(|run| self.definition(run));
        let (Some(definition), Some(number), Some(run)) = (definition, number, run) else {
            return Ok(());
        };
        if let Some(range) = &definition.range
            && range.batch.policy.excludes()
            && (range.first as usize..=range.last as usize).contains(&number)
        {
            let key = Key::Range(name.clone(), run.sequence.clone());
            self.permits.join(key, (holder, spot.run), range.batch.capacity)?;
        }
        if definition.tasks[number].name.as_str() == APPROVAL {
            self.permits.release_outer(&service, holder);
        }
        Ok(())
    }

    /// A family has ended when all its runs have, and nothing that the last failure triggers in
    /// the same stage is still to come.
    pub(super) fn ended_families(
        &mut self,
        id: DeploymentId,
        stage: TargetId,
    ) -> BTreeSet<TargetId> {
        let life = &self.lives[&id];
        let end = life.status((stage, Kind::StageFinished));
        let over = end.is_settled() && *end != Status::Failed;
        let inside = life.runs.keys().filter(|run| self.paths.table.get(**run).parent == stage);
        let runs: Vec<TargetId> = inside.copied().collect();
        let flying = life.steps.iter().filter(|(_, it)| it.status == Status::Flying);
        let busy: Vec<TargetId> =
            flying.map(|((target, _), _)| self.paths.spot(*target).run).collect();
        let Some(name) = self.paths.spot(stage).stage.clone() else { return BTreeSet::new() };
        let heirs = life.yard.due.iter().filter(|(_, (stage, _, _))| *stage == name);
        let failures = heirs.filter_map(|(at, _)| life.yard.happened.get(at));
        let heirs = failures.filter(|it| it.outcome == Outcome::Fail).filter_map(|it| it.run);
        let expecting: BTreeSet<TargetId> = heirs.map(|run| life.root(run)).collect();
        let open = runs.iter().filter(|run| {
            let finished = life.status((**run, Kind::SequenceFinished)).is_settled();
            !(finished || over) || busy.contains(run)
        });
        let open: BTreeSet<TargetId> = open.map(|run| life.root(*run)).collect();
        let roots = runs.iter().map(|run| life.root(*run));
        roots.filter(|root| !open.contains(root) && (over || !expecting.contains(root))).collect()
    }

    /// Families of which all that is open only waits for a person give up their service.
    pub(super) fn release_approving(&mut self, id: DeploymentId, stage: TargetId) {
        let life = &self.lives[&id];
        let Some(name) = self.paths.spot(stage).stage.clone() else { return };
        let inside = life.runs.keys().filter(|run| self.paths.table.get(**run).parent == stage);
        let open = inside.filter(|run| {
            !life.status((**run, Kind::SequenceFinished)).is_settled()
                || life.is_flying(|target| self.paths.run_above(target) == Some(**run))
        });
        let open: Vec<TargetId> = open.copied().collect();
        let busy = open.iter().filter(|run| !self.is_approving(life, **run));
        let busy: BTreeSet<TargetId> = busy.map(|run| life.root(*run)).collect();
        let service = Key::Service(name, life.service.clone());
        let waiting: BTreeSet<TargetId> = open.iter().map(|run| life.root(*run)).collect();
        for root in waiting.difference(&busy) {
            self.permits.release_outer(&service, (id, Some(*root)));
        }
    }

    fn is_approving(&self, life: &Life, run: TargetId) -> bool {
        let mut flying = life.steps.iter().filter(|((target, _), step)| {
            step.status == Status::Flying && self.paths.run_above(*target) == Some(run)
        });
        let approval = |((target, _), _): (&StepKey, _)| {
            self.task_name(*target).is_some_and(|name| name == APPROVAL)
        };
        flying.next().is_some_and(approval) && flying.next().is_none()
    }

    pub(super) fn is_yard(&self, stage: Option<&Name>) -> bool {
        let stage = stage.and_then(|stage| self.stage(stage));
        stage.is_some_and(|stage| stage.entry == Entry::Triggered)
    }
}
