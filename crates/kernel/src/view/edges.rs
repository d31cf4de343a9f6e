use seaway_model::DeploymentId;

use crate::Kernel;
use crate::record::Step;
use crate::state::{Deployment, Position, Shape, Spot};

/// Where work is to be done: something complete, what comes next, and what comes after that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub done: Step,
    /// `done` failed, and its fail edge leads on.
    pub along_failure: bool,
    pub todo: Step,
    pub after: Option<(Step, EdgeState)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeState {
    Complete,
    Incomplete,
}

impl Kernel {
    /// The edges of a deployment, for people: at most `limit`.
    ///
    /// Of the eight cases of (done, to do, after) only two are possible here: the first is complete
    /// (or failed along a fail edge) and the second is not, by construction.
    #[must_use]
    pub fn edges(&self, deployment: DeploymentId, limit: usize) -> Vec<Edge> {
        let Some(deployment) = self.deployments.get(&deployment) else { return Vec::new() };
        let mut edges = Vec::new();
        for spot in self.frontier(deployment) {
            let befores = self.before_spots(deployment, spot);
            let afters = self.after_spots(deployment, spot);
            for before in befores {
                let cell = self.cell_or_start(deployment, before);
                let failed = cell.is_some_and(|cell| cell.has_failed());
                if !failed && !cell.is_none_or(|cell| cell.lets_through()) {
                    continue;
                }
                let ends: Vec<Option<Spot>> = if afters.is_empty() {
                    vec![None]
                } else {
                    afters.iter().copied().map(Some).collect()
                };
                for after in ends {
                    if edges.len() == limit {
                        return edges;
                    }
                    edges.extend(self.edge(deployment, (before, failed), spot, after));
                }
            }
        }
        edges
    }

    fn edge(
        &self,
        deployment: &Deployment,
        (before, along_failure): (Spot, bool),
        spot: Spot,
        after: Option<Spot>,
    ) -> Option<Edge> {
        let after = after.and_then(|after| {
            let complete = self.cell_or_start(deployment, after)?.is_complete();
            let state = if complete { EdgeState::Complete } else { EdgeState::Incomplete };
            Some((self.step_at(deployment, after)?, state))
        });
        Some(Edge {
            done: self.step_at(deployment, before)?,
            along_failure,
            todo: self.step_at(deployment, spot)?,
            after,
        })
    }

    /// The state of a step; none for `pipeline-started`, which is always complete.
    fn cell_or_start(&self, deployment: &Deployment, spot: Spot) -> Option<crate::state::Cell> {
        match spot.position() {
            Position::PipelineStarted => None,
            Position::StageStarted(stage) => deployment.stages.get(&stage).map(|it| it.started),
            Position::StageFinished(stage) => deployment.stages.get(&stage).map(|it| it.finish),
            _ => Some(deployment.cell(spot)),
        }
    }

    fn before_spots(&self, deployment: &Deployment, spot: Spot) -> Vec<Spot> {
        match spot.position() {
            Position::PipelineStarted => Vec::new(),
            Position::StageStarted(stage) => {
                let before = deployment.predecessors(&self.world, stage);
                if before.is_empty() {
                    return vec![Spot::PIPELINE_STARTED];
                }
                before.into_iter().map(Spot::stage_finished).collect()
            }
            Position::Inside(key, Shape::TRIGGERED) => vec![Spot::stage_started(key.stage)],
            Position::Inside(key, cell) => {
                let shape = &deployment.runs[&key].shape;
                let mut before = Vec::new();
                shape.previous(shape.role(cell), &mut |it| before.push(Spot::inside(key, it)));
                before
            }
            Position::StageFinished(stage) => {
                let runs = deployment.runs_in(stage);
                let ends: Vec<Spot> =
                    runs.map(|run| Spot::inside(run.key, run.shape.finish)).collect();
                if ends.is_empty() { vec![Spot::stage_started(stage)] } else { ends }
            }
            Position::PipelineFinished => {
                deployment.stages.keys().map(|&stage| Spot::stage_finished(stage)).collect()
            }
        }
    }

    fn after_spots(&self, deployment: &Deployment, spot: Spot) -> Vec<Spot> {
        match spot.position() {
            Position::PipelineStarted | Position::PipelineFinished => Vec::new(),
            Position::StageStarted(stage) => deployment
                .runs_in(stage)
                .map(|run| Spot::inside(run.key, Shape::TRIGGERED))
                .collect(),
            Position::Inside(key, cell) => {
                let shape = &deployment.runs[&key].shape;
                if cell == shape.finish {
                    return vec![Spot::stage_finished(key.stage)];
                }
                let mut after = Vec::new();
                shape.next(shape.role(cell), &mut |it| after.push(Spot::inside(key, it)));
                after
            }
            Position::StageFinished(stage) => {
                let followers = deployment.followers(&self.world, stage);
                if followers.is_empty() {
                    return vec![Spot::PIPELINE_FINISHED];
                }
                followers.iter().map(|&stage| Spot::stage_started(stage)).collect()
            }
        }
    }

    /// Whether `later` lies after `earlier`, so that it has to wait for it.
    pub(crate) fn comes_before(&self, deployment: &Deployment, earlier: Spot, later: Spot) -> bool {
        if earlier == later {
            return false;
        }
        match (earlier.position(), later.position()) {
            (Position::PipelineStarted, _) | (_, Position::PipelineFinished) => true,
            (Position::PipelineFinished, _) | (_, Position::PipelineStarted) => false,
            (Position::Inside(a, x), Position::Inside(b, y)) if a == b => {
                deployment.runs[&a].shape.is_after(x, y)
            }
            _ => match (earlier.stage(), later.stage()) {
                (Some(a), Some(b)) if a == b => {
                    matches!(earlier.position(), Position::StageStarted(_))
                        || matches!(later.position(), Position::StageFinished(_))
                }
                (Some(a), Some(b)) => self.stage_comes_before(deployment, a, b),
                _ => false,
            },
        }
    }

    fn stage_comes_before(&self, deployment: &Deployment, earlier: u32, later: u32) -> bool {
        let mut open = deployment.predecessors(&self.world, later);
        let mut seen = std::collections::BTreeSet::new();
        while let Some(stage) = open.pop() {
            if stage == earlier {
                return true;
            }
            if seen.insert(stage) {
                open.extend(deployment.predecessors(&self.world, stage));
            }
        }
        false
    }
}
