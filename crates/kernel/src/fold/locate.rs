use seaway_model::{Kind, Level, Seq, TargetId, TargetTable};

use crate::Kernel;
use crate::state::{Deployment, Position, Run, Shape, Spot, key_of};

/// Where a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Spot(Spot),
    /// It left the structure.
    Attic,
}

impl Kernel {
    /// Finds a step of a deployment by its target and kind.
    pub(crate) fn locate(
        &self,
        deployment: &Deployment,
        target: TargetId,
        kind: Kind,
    ) -> Option<Location> {
        let node = self.targets.try_get(target)?;
        let attic = || deployment.attic.contains_key(&(target, kind)).then_some(Location::Attic);
        let parent = |id: TargetId| self.targets.get(id).parent;
        let run = match node.level {
            Level::Project => {
                return (kind == Kind::PipelineFinished)
                    .then_some(Location::Spot(Spot::PIPELINE_FINISHED));
            }
            Level::Stage => return self.locate_stage(deployment, node.part, kind),
            Level::Run => target,
            Level::Task => node.parent,
            Level::Group => parent(node.parent),
            Level::Member => parent(parent(node.parent)),
            Level::Executor => return None,
        };
        let key = *deployment.derived.run_of.get(&run)?;
        let run = &deployment.runs[&key];
        let cell = match node.level {
            Level::Run => run_cell(run, kind),
            Level::Task => {
                let mut tasks = run.shape.tasks.iter();
                tasks.find(|task| task.target == target && kind == Kind::TaskDone).map(|it| it.done)
            }
            Level::Group => group_cell(run, target, kind),
            _ => member_cell(run, (node.parent, target, node.part), kind),
        };
        match cell {
            Some(cell) => Some(Location::Spot(Spot::inside(key, cell))),
            None => attic(),
        }
    }

    fn locate_stage(&self, deployment: &Deployment, part: u32, kind: Kind) -> Option<Location> {
        let number = self.world.stages.find(self.targets.part(part))?;
        deployment.stages.get(&number)?;
        match kind {
            Kind::StageStarted => Some(Location::Spot(Spot::stage_started(number))),
            Kind::StageFinished => Some(Location::Spot(Spot::stage_finished(number))),
            _ => None,
        }
    }
}

/// The target and kind of a spot, which are named now if they never were.
pub(crate) fn name_spot(
    deployment: &Deployment,
    spot: Spot,
    targets: &mut TargetTable,
    seq: Seq,
) -> (TargetId, Kind) {
    match spot.position() {
        Position::Inside(key, cell) => {
            let run = &deployment.runs[&key];
            key_of(&run.shape, run.target, cell, (seq, targets))
        }
        _ => name_outside(deployment, spot).expect("a step of a stage is looked at once it is met"),
    }
}

/// The target and kind of a step that is not inside a run.
pub(crate) fn name_outside(deployment: &Deployment, spot: Spot) -> Option<(TargetId, Kind)> {
    let stage = |number: u32| deployment.stages.get(&number).map(|stage| stage.target);
    match spot.position() {
        Position::PipelineStarted => Some((TargetTable::ROOT, Kind::PipelineStarted)),
        Position::PipelineFinished => Some((TargetTable::ROOT, Kind::PipelineFinished)),
        Position::StageStarted(number) => Some((stage(number)?, Kind::StageStarted)),
        Position::StageFinished(number) => Some((stage(number)?, Kind::StageFinished)),
        Position::Inside(..) => None,
    }
}

fn run_cell(run: &Run, kind: Kind) -> Option<u32> {
    match kind {
        Kind::SequenceTriggered => Some(Shape::TRIGGERED),
        Kind::SequenceStarted => Some(Shape::STARTED),
        Kind::SequenceFinished => Some(run.shape.finish),
        _ => None,
    }
}

fn group_cell(run: &Run, target: TargetId, kind: Kind) -> Option<u32> {
    let group = run.shape.groups.iter().find(|group| group.target == target)?;
    match kind {
        Kind::GroupStarted => Some(group.start),
        Kind::GroupFinished => Some(group.finish),
        _ => None,
    }
}

fn member_cell(
    run: &Run,
    (group, target, part): (TargetId, TargetId, u32),
    kind: Kind,
) -> Option<u32> {
    let group = run.shape.groups.iter().find(|shape| shape.target == group)?;
    let link = group.chain.iter().position(|it| *it == kind)? as u32;
    let guess = group.targets.first().map_or(0, |first| target.0.wrapping_sub(first.0));
    let member = match group.targets.get(guess as usize) {
        Some(known) if *known == target => guess,
        _ => group.members.position(part)?,
    };
    Some(group.cell(member, link))
}
