use seaway_kernel::Step;
use seaway_model::{DeploymentId, Fact, Kind, Level, TargetId};

use super::player::Player;
use crate::document::TaskAddress;

/// Where a step is, in words: what addresses are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) ship: Option<usize>,
    pub(crate) stage: String,
    pub(crate) sequence: String,
    pub(crate) run: u32,
    /// None for the run itself.
    pub(crate) task: Option<String>,
    pub(crate) occurrence: u32,
}

impl Spot {
    pub(crate) fn is(&self, address: &TaskAddress) -> bool {
        address.ship.is_none_or(|ship| self.ship == Some(ship))
            && address.stage.as_ref().is_none_or(|it| it.as_str() == self.stage)
            && address.sequence.as_ref().is_none_or(|it| it.as_str() == self.sequence)
            && address.run.is_none_or(|it| it == self.run)
            && self.task.as_deref() == Some(address.task.as_str())
            && address.occurrence.is_none_or(|it| it == self.occurrence)
    }

    /// `<stage>.<sequence>#<run>`.
    pub(crate) fn run_text(&self) -> String {
        format!("{}.{}#{}", self.stage, self.sequence, self.run)
    }

    /// The name of the task, which its events have.
    pub(crate) fn task_name(&self) -> &str {
        self.task.as_deref().unwrap_or_default()
    }

    /// The task, with its number if it is not the first of that name.
    pub(crate) fn task_text(&self) -> String {
        let task = self.task_name();
        if self.occurrence > 1 { format!("{task}:{}", self.occurrence) } else { task.to_owned() }
    }
}

impl Player<'_> {
    pub(super) fn asked(&self, step: Step) -> Spot {
        self.spot(Some(step.deployment), step.target).expect("tasks are inside of runs")
    }

    /// Where a target is, if it is a run or inside of one.
    pub(crate) fn spot(&self, deployment: Option<DeploymentId>, target: TargetId) -> Option<Spot> {
        let targets = self.kernel.targets();
        let mut id = target;
        let mut task = None;
        loop {
            let node = targets.try_get(id)?;
            match node.level {
                Level::Project | Level::Stage => return None,
                Level::Run => {
                    let stage = targets.get(node.parent);
                    let (sequence, run) = targets.part(node.part).split_once('#')?;
                    let (task, occurrence) = match task {
                        Some(part) => numbered(targets.part(part)),
                        None => (None, 1),
                    };
                    return Some(Spot {
                        ship: deployment.and_then(|id| self.ship_of(id)),
                        stage: targets.part(stage.part).to_owned(),
                        sequence: sequence.to_owned(),
                        run: run.parse().ok()?,
                        task,
                        occurrence,
                    });
                }
                Level::Task => task = Some(node.part),
                Level::Group | Level::Member | Level::Executor => {}
            }
            id = node.parent;
        }
    }

    /// Where a target is, for a sentence.
    pub(crate) fn place(&self, target: TargetId) -> String {
        let targets = self.kernel.targets();
        let node = targets.get(target);
        match self.spot(None, target) {
            Some(spot) if spot.task.is_some() => {
                format!("{} {}", spot.run_text(), spot.task_text())
            }
            Some(spot) => spot.run_text(),
            None if node.level == Level::Stage => format!("stage {}", targets.part(node.part)),
            None => "its end".to_owned(),
        }
    }

    pub(crate) fn ship_of(&self, id: DeploymentId) -> Option<usize> {
        self.ids.iter().find(|(_, it)| **it == id).map(|(ship, _)| *ship)
    }

    /// The newest step of a deployment that an address means; of several, one that is not done.
    pub(super) fn find_task(&self, ship: usize, address: &TaskAddress) -> Option<Step> {
        let id = *self.ids.get(&ship)?;
        let waiting = self.kernel.waiting(id, usize::MAX).into_iter().map(|it| it.step);
        let logged = self.log.iter().rev().filter(|it| it.deployment == Some(id));
        let logged = logged.filter_map(|record| {
            let level = self.kernel.targets().try_get(record.target)?.level;
            (level == Level::Task && record.fact != Fact::Skipped).then(|| record.step())?
        });
        let mut steps = waiting.chain(logged).filter(|it| it.kind == Kind::TaskDone);
        steps.find(|step| self.asked(*step).is(address))
    }
}

fn numbered(part: &str) -> (Option<String>, u32) {
    match part.split_once(':') {
        Some((task, number)) => (Some(task.to_owned()), number.parse().unwrap_or(1)),
        None => (Some(part.to_owned()), 1),
    }
}
