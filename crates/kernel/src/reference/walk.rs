use std::collections::BTreeSet;

use seaway_model::Kind;

use super::dep::{Dep, Status};
use super::graph::{Graph, Node};

/// What a walk over the graph meets.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) reached: BTreeSet<usize>,
    pub(super) frontier: BTreeSet<usize>,
}

impl Graph {
    /// From `pipeline-started`, every entered stage and every triggered run, through what is
    /// complete or passed over, and along the fail edges of what failed. What is in flight is
    /// always met: a step may have been inserted before it since, and fail.
    pub(super) fn walk(&self, dep: &Dep) -> Walk {
        let mut walk = Walk { reached: BTreeSet::new(), frontier: BTreeSet::new() };
        let roots = (0..self.nodes.len()).filter(|number| {
            let node = &self.nodes[*number];
            let opens = matches!(node.kind, Kind::StageStarted | Kind::SequenceTriggered);
            opens && dep.status(node).complete() && !self.stage_dead(dep, node)
        });
        let mut open = vec![0];
        open.extend(roots);
        open.extend((0..self.nodes.len()).filter(|it| dep.in_flight(&self.nodes[*it])));
        while let Some(number) = open.pop() {
            if !walk.reached.insert(number) {
                continue;
            }
            let node = &self.nodes[number];
            if let Some(end) = self.dead_end(dep, number) {
                walk.reached.remove(&number);
                open.push(end);
                continue;
            }
            let status = dep.status(node);
            if status.complete() || self.passed_over(dep, number) {
                open.extend(self.leads_to(dep, number));
            } else {
                walk.frontier.insert(number);
                if matches!(status, Status::Failed | Status::Superseded) {
                    open.extend(self.fails_to(dep, number));
                }
            }
        }
        // A failed step whose way on was passed over leads nowhere; the pipeline ends all the same.
        let last = self.last();
        if !dep.status(&self.nodes[last]).complete() && self.blockers(dep, &walk, last).is_empty() {
            walk.reached.insert(last);
            walk.frontier.insert(last);
        }
        walk
    }

    fn stage_dead(&self, dep: &Dep, node: &Node) -> bool {
        node.stage.as_ref().is_some_and(|stage| {
            dep.status(&self.nodes[self.stage_end(stage)]) == Status::Superseded
        })
    }

    /// Where a step leads whose stage or run was superseded as a whole: to its end.
    fn dead_end(&self, dep: &Dep, number: usize) -> Option<usize> {
        let node = &self.nodes[number];
        if dep.in_flight(node) {
            return None;
        }
        if self.stage_dead(dep, node) {
            let end = self.stage_end(node.stage.as_ref()?);
            return (end != number).then_some(end);
        }
        let run = node.run.as_ref()?;
        let dead = dep.status(&self.nodes[run.finished]) == Status::Superseded;
        (dead && run.finished != number).then_some(run.finished)
    }

    /// Never dispatched, not complete, and something after it has finished.
    pub(super) fn passed_over(&self, dep: &Dep, number: usize) -> bool {
        let node = &self.nodes[number];
        dep.status(node) == Status::Idle && !dep.tried(node) && self.overtaken(dep, number)
    }

    /// Something after it has finished, or a join after it has failed: whoever joins a group, a
    /// run or a stage then comes too late for it.
    pub(super) fn overtaken(&self, dep: &Dep, number: usize) -> bool {
        self.after[number].iter().any(|&later| {
            let status = dep.status(&self.nodes[later]);
            status.finished() || (status == Status::Failed && !self.nodes[later].work)
        })
    }

    fn leads_to(&self, dep: &Dep, number: usize) -> Vec<usize> {
        let node = &self.nodes[number];
        match (&node.run, node.kind, node.task) {
            (Some(run), Kind::SequenceStarted, _) => self.enter(dep, run, 0),
            (Some(run), Kind::TaskDone, Some(task)) => self.enter(dep, run, task + 1),
            _ => self.next[number].clone(),
        }
    }

    fn fails_to(&self, dep: &Dep, number: usize) -> Vec<usize> {
        let node = &self.nodes[number];
        match (&node.run, node.kind) {
            (_, Kind::StageFinished) => vec![self.last()],
            (Some(_), Kind::SequenceFinished | Kind::GroupFinished) => self.next[number].clone(),
            (Some(_), Kind::TaskDone) => self.leads_to(dep, number),
            (Some(run), _) => {
                let task = node.task.expect("only steps of tasks fail");
                let ends = |it: &usize| {
                    let end = &self.nodes[*it];
                    end.kind == Kind::GroupFinished && end.group == node.group
                };
                let mut later = (number + 1)..=run.tasks[task];
                later.find(|it| ends(it)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The steps of the frontier that keep `step` from being ready.
    pub(super) fn blockers(&self, dep: &Dep, walk: &Walk, step: usize) -> Vec<usize> {
        let others = walk.frontier.iter().copied();
        let blockers = others.filter(|&other| {
            // What can no longer happen without a person does not keep the pipeline from ending.
            let stuck = || step == self.last() && self.stuck(dep, walk, other);
            self.blocks(dep, other, step) && !stuck()
        });
        blockers.collect()
    }

    fn blocks(&self, dep: &Dep, other: usize, step: usize) -> bool {
        if other == step || !self.after[other].contains(&step) {
            return false;
        }
        let (here, node) = (&self.nodes[step], &self.nodes[other]);
        let begun = here.run.as_ref().is_some_and(|run| dep.pins.contains_key(&run.path));
        // A run that has begun goes on, and a stage ends with its runs, whatever comes before.
        let apart = match here.kind {
            Kind::StageFinished => node.stage != here.stage,
            _ => begun && node.run != here.run,
        };
        let failed = matches!(dep.status(node), Status::Failed | Status::Superseded);
        !(apart || failed && self.fail_reaches(other, step))
    }

    fn fail_reaches(&self, failed: usize, step: usize) -> bool {
        let (from, to) = (&self.nodes[failed], &self.nodes[step]);
        let same_run = from.run.is_some() && from.run == to.run;
        same_run
            || step == self.last()
            || (to.kind == Kind::StageFinished && to.stage == from.stage)
    }

    /// Whether a step waits for what failed, or for what waits for that.
    fn stuck(&self, dep: &Dep, walk: &Walk, step: usize) -> bool {
        let over = |other: usize| {
            let status = dep.status(&self.nodes[other]);
            matches!(status, Status::Failed | Status::Superseded) || self.stuck(dep, walk, other)
        };
        let mut others = walk.frontier.iter();
        !dep.in_flight(&self.nodes[step])
            && others.any(|&other| self.blocks(dep, other, step) && over(other))
    }
}
