use std::collections::BTreeSet;

use seaway_model::Kind;

use super::fold::{Dep, Status};
use super::graph::{Graph, Node};

/// What a walk over the graph meets.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) reached: BTreeSet<usize>,
    pub(super) frontier: BTreeSet<usize>,
}

impl Graph {
    /// From `pipeline-started` and from every triggered run, through what is complete or passed
    /// over, and along the fail edges of what failed.
    pub(super) fn walk(&self, dep: &Dep) -> Walk {
        let mut walk = Walk { reached: BTreeSet::new(), frontier: BTreeSet::new() };
        let triggered =
            |node: &&Node| node.kind == Kind::SequenceTriggered && dep.status(node).complete();
        let mut open = vec![0];
        open.extend(self.nodes.iter().filter(triggered).filter_map(|node| {
            let run = node.run.as_ref()?;
            (!self.stage_dead(dep, node)).then_some(run.triggered)
        }));
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
        let before = |other: &usize| *other != step && self.after[*other].contains(&step);
        let here = &self.nodes[step];
        let begun = here.run.as_ref().is_some_and(|run| dep.pins.contains_key(&run.path));
        let blocks = |other: &usize| {
            let node = &self.nodes[*other];
            // A run that has begun goes on, and a stage ends with its runs, whatever comes before.
            let apart = match here.kind {
                Kind::StageFinished => node.stage != here.stage,
                _ => begun && node.run != here.run,
            };
            if apart {
                return false;
            }
            let failed = matches!(dep.status(node), Status::Failed | Status::Superseded);
            if failed && self.fail_reaches(*other, step) {
                return false;
            }
            // What can no longer happen without a person does not keep the pipeline from ending.
            !(step == self.last() && self.stuck(dep, walk, *other))
        };
        walk.frontier.iter().copied().filter(before).filter(blocks).collect()
    }

    fn fail_reaches(&self, failed: usize, step: usize) -> bool {
        let (from, to) = (&self.nodes[failed], &self.nodes[step]);
        let same_run = from.run.is_some() && from.run == to.run;
        same_run
            || step == self.last()
            || (to.kind == Kind::StageFinished && to.stage == from.stage)
    }

    fn stuck(&self, dep: &Dep, walk: &Walk, step: usize) -> bool {
        dep.status(&self.nodes[step]) != Status::InFlight
            && walk.frontier.iter().any(|&other| {
                let failed =
                    matches!(dep.status(&self.nodes[other]), Status::Failed | Status::Superseded);
                let blocked = self.after[other].contains(&step) && !self.fail_reaches(other, step);
                failed && blocked
            })
    }
}
