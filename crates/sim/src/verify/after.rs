use seaway_model::{DeploymentId, Kind, TargetId, TargetTable};

use super::ledger::{Life, StepKey};
use super::log::Verifier;
use super::paths::Spot;

impl Verifier {
    /// Whether `later` has to wait for `earlier`; both lie in the same run.
    pub(super) fn is_after(&mut self, life: &Life, earlier: StepKey, later: StepKey) -> bool {
        if earlier == later {
            return false;
        }
        let (a, b) = (self.paths.spot(earlier.0), self.paths.spot(later.0));
        let first = self.phase(life, &a, earlier.1);
        let second = self.phase(life, &b, later.1);
        if first != second {
            return second > first;
        }
        let same_group = a.group_target == b.group_target;
        match (earlier.1, later.1) {
            (Kind::TaskDone, _) => false,
            (_, Kind::TaskDone) => true,
            (Kind::GroupStarted, _) => same_group,
            (Kind::GroupFinished, _) => false,
            (_, Kind::GroupFinished) => same_group,
            (before, after) => earlier.0 == later.0 && after > before,
        }
    }

    /// Where a step stands in its run: before the tasks, in one of them, or behind them.
    fn phase(&self, life: &Life, spot: &Spot, kind: Kind) -> usize {
        match kind {
            Kind::SequenceTriggered => 0,
            Kind::SequenceStarted => 1,
            Kind::SequenceFinished => usize::MAX,
            _ => 2 + self.task_number(life, spot).unwrap_or(usize::MAX - 3),
        }
    }

    /// A retry, or a step that a person skipped: everything after it counts no longer.
    pub(super) fn reopen(&mut self, id: DeploymentId, from: StepKey, itself: bool) {
        let spot = self.paths.spot(from.0);
        let mut opened = Vec::new();
        if from.1 == Kind::StageStarted {
            let keys: Vec<StepKey> = self.lives[&id].steps.keys().copied().collect();
            let yard = self.is_yard(spot.stage.as_ref());
            let inside = |key: &StepKey| self.paths.spot(key.0).stage_target == from.0;
            let keys: Vec<StepKey> = keys.into_iter().filter(inside).collect();
            let life = &self.lives[&id];
            // In a triggered stage what has ended stays, and so does what was triggered.
            let stays = |(target, kind): &StepKey| {
                let run = self.paths.run_above(*target);
                let ended = |run| life.status((run, Kind::SequenceFinished)).is_settled();
                yard && (*kind == Kind::SequenceTriggered || run.is_some_and(ended))
            };
            opened.extend(keys.into_iter().filter(|key| !stays(key)));
        } else {
            let life = self.lives[&id].clone();
            let whole_task = itself && from.1 == Kind::TaskDone;
            for key in self.steps_in(id, spot.run) {
                let there = self.paths.spot(key.0);
                let in_task = whole_task && there.task == spot.task && key.1 != Kind::TaskDone;
                let reopens = (itself && key == from) || in_task || self.is_after(&life, from, key);
                if reopens {
                    opened.push(key);
                }
            }
        }
        opened.push((spot.stage_target, Kind::StageFinished));
        opened.push((TargetTable::ROOT, Kind::PipelineFinished));
        let members = opened.iter().filter(|(_, kind)| *kind == Kind::MemberStarted);
        let members: Vec<TargetId> = members.map(|(target, _)| *target).collect();
        members.into_iter().for_each(|member| self.release_member(id, member));
        let life = self.lives.get_mut(&id).expect("the deployment was found by its record");
        opened.into_iter().for_each(|key| life.reopen(key));
    }
}
