use seaway_model::{Kind, Level, TargetId, TargetTable};

use crate::state::StepKey;
use crate::structure::Sequence;

/// How the steps of a run stand to each other by their names alone, so that it also holds for
/// steps that left the structure.
pub(super) struct Order<'a> {
    pub(super) targets: &'a TargetTable,
    pub(super) definition: Option<&'a Sequence>,
}

impl Order<'_> {
    /// Whether a retry of `from` opens `key` too; `whole_task` if a task is done again from its
    /// groups on.
    pub(super) fn is_after(&self, from: StepKey, key: StepKey, whole_task: bool) -> bool {
        let targets = self.targets;
        if from.1 == Kind::StageStarted {
            return stage_above(targets, key.0) == Some(from.0);
        }
        let run = run_above(targets, from.0);
        if run.is_none() || run != run_above(targets, key.0) || from == key {
            return false;
        }
        let (a, b) = (self.phase(from), self.phase(key));
        if a != b {
            return b > a;
        }
        let group = |target: TargetId| match targets.get(target).level {
            Level::Group => Some(target),
            Level::Member => Some(targets.get(target).parent),
            _ => None,
        };
        match (from.1, key.1) {
            (Kind::TaskDone, _) => whole_task,
            (_, Kind::TaskDone) => true,
            (Kind::GroupStarted, _) => group(from.0) == group(key.0),
            (Kind::GroupFinished, _) => false,
            (_, Kind::GroupFinished) => group(from.0) == Some(key.0),
            (_, kind) => from.0 == key.0 && kind > from.1,
        }
    }

    /// Before the tasks, in one of them, or behind them.
    fn phase(&self, (target, kind): StepKey) -> usize {
        let targets = self.targets;
        let task = match (targets.get(target).level, kind) {
            (Level::Run, Kind::SequenceTriggered) => return 0,
            (Level::Run, Kind::SequenceStarted) => return 1,
            (Level::Run, _) => return usize::MAX,
            (Level::Task, _) => target,
            (Level::Group, _) => targets.get(target).parent,
            _ => targets.get(targets.get(target).parent).parent,
        };
        let part = targets.part(targets.get(task).part);
        let parts = self.definition.map(Sequence::parts).unwrap_or_default();
        2 + parts.iter().position(|it| it == part).unwrap_or(parts.len())
    }
}

fn above(targets: &TargetTable, target: TargetId, level: Level) -> Option<TargetId> {
    let mut id = target;
    loop {
        let node = targets.get(id);
        match node.level {
            it if it == level => return Some(id),
            Level::Project => return None,
            _ => id = node.parent,
        }
    }
}

pub(super) fn run_above(targets: &TargetTable, target: TargetId) -> Option<TargetId> {
    above(targets, target, Level::Run)
}

pub(super) fn stage_above(targets: &TargetTable, target: TargetId) -> Option<TargetId> {
    above(targets, target, Level::Stage)
}
