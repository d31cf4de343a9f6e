use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_model::{
    Attempt, DeploymentId, ExecutorName, FastMap, Fence, Kind, Name, Revision, Seq, Span, TargetId,
    Timestamp,
};
use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::cell::{Cell, Status};
use super::due::Entry;
use super::offer::Offer;
use super::permits::{Holder, PermitKey};
use super::run::Run;
use super::spot::{Position, RunKey, Spot};
use super::world::{Members, World};
use crate::record::Actor;
use crate::structure::{self, Slot, Trigger};

pub(crate) type StepKey = (TargetId, Kind);

/// One revision on its way through the pipeline, as long as it is in memory.
#[derive(Clone, Debug)]
pub(crate) struct Deployment {
    pub(crate) id: DeploymentId,
    pub(crate) revision: Revision,
    /// Position of its `pipeline-started`; tells deployments of one revision apart.
    pub(crate) started: Seq,
    pub(crate) service: Name,
    pub(crate) version: Box<str>,
    /// The service in the vocabulary of the target table.
    pub(crate) service_part: u32,
    pub(crate) course: Course,
    pub(crate) finish: Cell,
    pub(crate) stages: BTreeMap<u32, Stage>,
    pub(crate) runs: BTreeMap<RunKey, Run>,
    pub(crate) ghosts: BTreeMap<u32, Ghost>,
    /// Steps that left the structure; they count again if they come back.
    pub(crate) attic: BTreeMap<StepKey, Cell>,
    /// Attempts and repetitions, for steps that have more than one.
    pub(crate) tries: BTreeMap<StepKey, Tries>,
    pub(crate) leases: BTreeMap<StepKey, Lease>,
    /// Tasks in flight that go to whoever subscribed to them.
    pub(crate) offers: BTreeMap<StepKey, Offer>,
    /// When failed tasks are tried again by themselves.
    pub(crate) backoffs: BTreeMap<StepKey, Timestamp>,
    /// What happened and may start sequences.
    pub(crate) causes: BTreeMap<Seq, Cause>,
    /// When a join last fired: stage, sequence, entry.
    pub(crate) joined: BTreeMap<(u32, u32, Trigger), Seq>,
    /// The number of the last run of a sequence, also if that left: stage, sequence.
    pub(crate) numbers: BTreeMap<(u32, u32), u32>,
    pub(crate) pauses: u32,
    /// How many events it was told.
    pub(crate) events: u32,
    /// How many triggers were refused.
    pub(crate) refused: u32,
    pub(crate) derived: Derived,
}

/// What follows from the rest, and is worked out again after a structural change or a restart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derived {
    /// Steps to be looked at: ready ones, and passed-over ones to be logged.
    pub(crate) todo: BTreeSet<Spot>,
    /// Steps in line, and for what.
    pub(crate) in_line: BTreeMap<Spot, Vec<PermitKey>>,
    /// Stages in which something can still happen without a person.
    pub(crate) live: u32,
    /// Stages that a later stage has overtaken.
    pub(crate) overtaken: BTreeSet<u32>,
    /// Slots that are younger than the deployment, and whether it passed a place that needed them.
    pub(crate) late: BTreeMap<Slot, bool>,
    pub(crate) run_of: FastMap<TargetId, RunKey>,
    /// Steps that left the structure while they were in flight.
    pub(crate) orphans: BTreeSet<StepKey>,
    /// Causes whose triggers are to be looked at.
    pub(crate) firing: BTreeMap<Seq, Vec<Entry>>,
    /// Runs that were withdrawn, or superseded with their stage, until that is logged.
    pub(crate) unended: BTreeSet<RunKey>,
    /// Tasks that everybody answered.
    pub(crate) ripe: BTreeSet<StepKey>,
    /// While it is aborted: nothing before this is in flight that nobody holds.
    pub(crate) swept: Spot,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Course {
    Running,
    Paused { by: Actor, since: Timestamp },
    Aborting { by: Actor, since: Timestamp },
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Stage {
    pub(crate) target: TargetId,
    pub(crate) started: Cell,
    pub(crate) finish: Cell,
    /// Holds the stage's batch.
    pub(crate) holds: bool,
    pub(crate) reached: bool,
    /// Something before it is not through, so nothing in it may be dispatched.
    pub(crate) held: bool,
    /// Entered by triggers.
    pub(crate) triggered: bool,
    /// Through, with nothing left behind: what comes after it need not wait for it.
    pub(crate) clear: bool,
    pub(crate) live: bool,
}

/// A stage that left the structure while the deployment was in it. It stays, with what came after
/// it, until its runs have ended: removing a stage promotes nothing.
#[derive(Clone, Debug)]
pub(crate) struct Ghost {
    pub(crate) stage: Arc<structure::Stage>,
    pub(crate) followers: Vec<u32>,
    pub(crate) members: BTreeMap<Name, Arc<Members>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tries {
    pub(crate) attempt: Attempt,
    pub(crate) leases: u32,
    pub(crate) changes: u32,
    /// Whose `started` was recorded last.
    pub(crate) started: Option<Fence>,
    /// How often it failed and was to be tried again by itself.
    pub(crate) spent: u32,
}

impl Tries {
    /// Those of the next attempt.
    pub(crate) fn next_attempt(self) -> Self {
        Self { attempt: self.attempt.next(), ..Self::default() }
    }
}

impl Default for Tries {
    fn default() -> Self {
        Self { attempt: Attempt(1), leases: 0, changes: 0, started: None, spent: 0 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lease {
    pub(crate) executor: ExecutorName,
    pub(crate) number: u32,
    pub(crate) since: Timestamp,
    pub(crate) ttl: Span,
}

impl Deployment {
    /// Where it stands among deployments that wait: oldest revision first.
    pub(crate) fn rank(&self) -> (Revision, Seq) {
        (self.revision, self.started)
    }

    pub(crate) fn tries(&self, key: StepKey) -> Tries {
        if self.tries.is_empty() {
            return Tries::default();
        }
        self.tries.get(&key).copied().unwrap_or_default()
    }

    /// Opens the next attempt of a step.
    pub(crate) fn open_attempt(&mut self, key: StepKey) {
        let tries = self.tries.entry(key).or_default();
        *tries = tries.next_attempt();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.finish.is_settled()
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.runs.values().map(|run| run.counts.in_flight).sum()
    }

    pub(crate) fn cell(&self, spot: Spot) -> Cell {
        match spot.position() {
            Position::PipelineStarted => Cell::default(),
            Position::StageStarted(stage) => self.stages[&stage].started,
            Position::Inside(run, cell) => self.runs[&run].cell(cell),
            Position::StageFinished(stage) => self.stages[&stage].finish,
            Position::PipelineFinished => self.finish,
        }
    }

    pub(crate) fn holder(&self, run: TargetId) -> Holder {
        Holder { started: self.started, revision: self.revision, run }
    }

    /// A stage as this deployment sees it: as it is now, or as it was when it left.
    pub(crate) fn stage_definition<'a>(
        &'a self,
        world: &'a World,
        stage: u32,
    ) -> Option<&'a structure::Stage> {
        let now = world.stage(stage).map(|stage| &**stage);
        now.or_else(|| self.ghosts.get(&stage).map(|ghost| &*ghost.stage))
    }

    /// The stages right after one.
    pub(crate) fn followers<'a>(&'a self, world: &'a World, stage: u32) -> &'a [u32] {
        match self.ghosts.get(&stage) {
            Some(ghost) => &ghost.followers,
            None => world.followers.get(&stage).map_or(&[], |followers| followers),
        }
    }

    /// Visits the stages right before one. A stage that left has none: it is under way already.
    pub(crate) fn predecessors(&self, world: &World, stage: u32) -> Vec<u32> {
        let Some(definition) = world.stage(stage) else { return Vec::new() };
        let number = |name: &Name| world.stages.find(name.as_str());
        let mut before: Vec<u32> = definition.after.iter().filter_map(number).collect();
        let ghosts = self.ghosts.iter().filter(|(_, ghost)| ghost.followers.contains(&stage));
        before.extend(ghosts.map(|(number, _)| *number));
        before
    }

    /// The runs that hold in one name have the service together. Whoever waits for an approval
    /// asks for it again afterwards.
    pub(crate) fn share_service(&mut self, stage: u32, holder: TargetId) {
        let first = RunKey { stage, sequence: 0, number: 0 };
        let last = RunKey { stage, sequence: u32::MAX, number: u32::MAX };
        for (_, run) in self.runs.range_mut(first..=last) {
            let idle = !run.withdrawn && !run.finish().is_settled() && run.counts.in_flight == 0;
            run.holds_service |= run.holder == holder && idle;
        }
    }

    /// Triggered runs that are over without having said so.
    pub(crate) fn note_unended(&mut self) {
        let gone = self.runs.values().filter(|run| {
            let stage = self.stages.get(&run.key.stage).map(|stage| stage.finish.status());
            let over = run.withdrawn || stage == Some(Status::Superseded);
            over && run.origin.is_some() && !run.finish().is_settled()
        });
        self.derived.unended = gone.map(|run| run.key).collect();
    }

    /// The runs of one stage.
    pub(crate) fn runs_in(&self, stage: u32) -> impl Iterator<Item = &Run> {
        let first = RunKey { stage, sequence: 0, number: 0 };
        let last = RunKey { stage, sequence: u32::MAX, number: u32::MAX };
        self.runs.range(first..=last).map(|(_, run)| run).filter(|run| !run.withdrawn)
    }

    /// Whether a run that does not ask for the batch is open in a stage.
    pub(crate) fn has_exempt(&self, stage: u32) -> bool {
        self.runs_in(stage).any(|run| run.exempt && !run.finish().is_settled())
    }

    pub(crate) fn slot_of(&self, world: &World, run: &Run, cell: u32) -> Option<Slot> {
        use super::shape::Role;
        let role = run.shape.role(cell);
        match role {
            Role::TaskDone { task } => {
                let name = world.sequences.name(run.key.sequence);
                Some(world.definitions[run.definition as usize].slot(name, task))
            }
            Role::GroupStarted { .. } | Role::Link { .. } | Role::GroupFinished { .. } => {
                Some(Slot::Kind(run.shape.kind(role)))
            }
            Role::Triggered | Role::Started | Role::Finished => None,
        }
    }
}
