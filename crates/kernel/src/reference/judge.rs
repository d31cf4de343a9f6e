use std::collections::BTreeMap;

use seaway_model::{Attempt, DeploymentId, Fact, Kind, Outcome, TargetId};

use super::dep::{Course, Dep, Status};
use super::fold::Reference;
use super::graph::Graph;
use super::permits::{Key, Need, Rank};
use super::triggers::Born;
use super::walk::Walk;
use crate::record::Reason;
use crate::structure::Policy;

/// The next record that the scheduler should write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub deployment: DeploymentId,
    pub path: String,
    pub kind: Kind,
    pub fact: Fact,
    pub attempt: Attempt,
    pub outcome: Option<Outcome>,
    pub reason: Option<Reason>,
}

/// Why a step of the frontier does not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    Scheduled,
    Unclaimed,
    Working,
    Delayed,
    Retrying,
    Paused,
    Aborting,
    Before,
    InLine,
    Failed,
    Superseded,
    Overtaken,
}

/// Who stands in line for what, in order.
type Lines = BTreeMap<Key, Vec<(Rank, usize, DeploymentId)>>;

enum Verdict {
    Act { on: usize, fact: Fact, outcome: Option<Outcome>, reason: Option<Reason> },
    Replace(DeploymentId, Key, usize),
    Wait(Wait),
}

impl Reference {
    /// The first thing to do, oldest revision first.
    #[must_use]
    pub fn next_action(&self) -> Option<Action> {
        let mut lines = Lines::new();
        let mut all: Vec<&Dep> = self.deployments.values().collect();
        all.sort_by_key(|dep| dep.rank());
        for dep in all {
            if let Some(action) = self.firing(dep).filter(|_| dep.course != Course::Aborting) {
                return Some(action);
            }
            if dep.ended(&self.project) {
                continue;
            }
            let graph = self.graph(dep);
            if let Some(action) = self.clean_up(dep, &graph) {
                return Some(action);
            }
            if dep.course != Course::Running {
                continue;
            }
            let walk = graph.walk(dep);
            for number in 0..graph.nodes.len() {
                match self.judge(dep, (&graph, &walk), number, &mut lines) {
                    Verdict::Act { on, fact, outcome, reason } => {
                        return Some(action(dep, &graph, on, fact, outcome, reason));
                    }
                    Verdict::Replace(id, key, waiter) => {
                        return Some(self.replace(id, &key, waiter));
                    }
                    Verdict::Wait(_) => {}
                }
            }
        }
        None
    }

    /// Every step of a deployment's frontier, and why it waits.
    #[must_use]
    pub fn waiting(&self, id: DeploymentId) -> Vec<(String, Kind, Wait)> {
        let mut lines = Lines::new();
        let mut waits = Vec::new();
        for dep in self.in_order() {
            let graph = self.graph(dep);
            let walk = graph.walk(dep);
            for number in 0..graph.nodes.len() {
                let wait = match dep.course {
                    Course::Running => self.judge(dep, (&graph, &walk), number, &mut lines),
                    Course::Paused => Verdict::Wait(Wait::Paused),
                    Course::Aborting => Verdict::Wait(Wait::Aborting),
                };
                let Verdict::Wait(wait) = wait else { continue };
                if dep.id == id && walk.frontier.contains(&number) {
                    let node = &graph.nodes[number];
                    let wait = self.at_rest(dep, &graph, number).unwrap_or(wait);
                    waits.push((node.path.clone(), node.kind, wait));
                }
            }
        }
        waits
    }

    fn in_order(&self) -> Vec<&Dep> {
        let open = self.deployments.values().filter(|dep| !dep.ended(&self.project));
        let mut deps: Vec<&Dep> = open.collect();
        deps.sort_by_key(|dep| dep.rank());
        deps
    }

    /// What is over, or in flight, waits for its own reasons.
    fn at_rest(&self, dep: &Dep, graph: &Graph, number: usize) -> Option<Wait> {
        let node = &graph.nodes[number];
        match dep.status(node) {
            Status::Failed => Some(Wait::Failed),
            Status::Superseded => Some(Wait::Superseded),
            Status::Backoff => Some(Wait::Retrying),
            Status::InFlight if dep.is_claimed(node) => Some(Wait::Working),
            Status::InFlight => Some(Wait::Unclaimed),
            _ => None,
        }
    }

    fn judge(
        &self,
        dep: &Dep,
        (graph, walk): (&Graph, &Walk),
        number: usize,
        lines: &mut Lines,
    ) -> Verdict {
        let skip = |reason| Verdict::Act {
            on: number,
            fact: Fact::Skipped,
            outcome: None,
            reason: Some(reason),
        };
        if !walk.reached.contains(&number) {
            return Verdict::Wait(Wait::Before);
        }
        if graph.passed_over(dep, number) {
            return skip(Reason::Surpassed);
        }
        if !walk.frontier.contains(&number) || dep.status(&graph.nodes[number]) != Status::Idle {
            return Verdict::Wait(self.at_rest(dep, graph, number).unwrap_or(Wait::Before));
        }
        if !graph.blockers(dep, walk, number).is_empty() {
            return Verdict::Wait(Wait::Before);
        }
        if let Some(reason) = self.no_work(dep, graph, number) {
            return skip(reason);
        }
        if graph.nodes[number].work && graph.overtaken(dep, number) {
            return Verdict::Wait(Wait::Overtaken);
        }
        if self.is_delayed(dep, graph, number) {
            return Verdict::Wait(Wait::Delayed);
        }
        let newest = self.place(dep, graph, number).and_then(|place| self.newest.get(&place));
        if newest.is_some_and(|newest| *newest > dep.revision) {
            return skip(Reason::Superseded);
        }
        let needs = self.needs(dep, graph, number);
        if let Some(verdict) = self.line_up(dep, &needs, number, lines) {
            return verdict;
        }
        if let Some(verdict) = self.comes_back(dep, graph, &needs, number) {
            return verdict;
        }
        if graph.nodes[number].work {
            return Verdict::Act {
                on: number,
                fact: Fact::Dispatched,
                outcome: None,
                reason: None,
            };
        }
        let (fact, outcome) = self.ending(dep, graph, number);
        Verdict::Act { on: number, fact, outcome, reason: None }
    }

    fn no_work(&self, dep: &Dep, graph: &Graph, number: usize) -> Option<Reason> {
        let node = &graph.nodes[number];
        let slot = node.slot.as_ref();
        let since = node.run.as_ref().and_then(|run| dep.born.get(&run.path));
        let since = since.map_or(dep.started, |run| run.since);
        let young = |slot| self.introduced.get(slot).is_some_and(|seq| *seq > since);
        let late = slot.is_some_and(|slot| young(slot) && self.is_late(dep, graph, slot));
        if late && !dep.tried(node) {
            return Some(Reason::IntroducedLate);
        }
        if let (Some(run), Some(task), Kind::TaskDone) = (&node.run, node.task, node.kind)
            && !graph.condition_holds(dep, run, task)
        {
            return Some(Reason::Condition);
        }
        None
    }

    /// Whether a task waits some time after what came before it.
    fn is_delayed(&self, dep: &Dep, graph: &Graph, number: usize) -> bool {
        let node = &graph.nodes[number];
        let (Some(run), Some(task), Kind::TaskDone) = (&node.run, node.task, node.kind) else {
            return false;
        };
        let Some(delay) = run.definition.tasks[task].delay.filter(|_| !dep.tried(node)) else {
            return false;
        };
        let moved = dep.moved.get(&run.path).copied().unwrap_or_default();
        moved + delay > self.now
    }

    /// Introduced after the deployment started, which has passed a place that would have needed it.
    fn is_late(&self, dep: &Dep, graph: &Graph, slot: &crate::Slot) -> bool {
        let younger = self.introduced.get(slot).is_some_and(|seq| *seq > dep.started);
        let here = || {
            graph.nodes.iter().enumerate().any(|(number, node)| {
                let left_out = match dep.status(node) {
                    Status::Idle => !dep.tried(node),
                    Status::Surpassed | Status::IntroducedLate => true,
                    _ => false,
                };
                let passed =
                    || graph.next[number].iter().any(|it| dep.status(&graph.nodes[*it]).complete());
                node.slot.as_ref() == Some(slot) && left_out && passed()
            })
        };
        let before = || dep.pins.keys().any(|run| self.went_past(dep, graph, run, slot));
        younger && (here() || before())
    }

    /// A run with an older definition completed what now comes right after the slot.
    fn went_past(&self, dep: &Dep, graph: &Graph, path: &str, slot: &crate::Slot) -> bool {
        let mut nodes = graph.nodes.iter().filter_map(|node| Some((node, node.run.as_ref()?)));
        let Some((node, run)) = nodes.find(|(_, run)| run.path == path) else { return false };
        let stage = node.stage.as_ref().and_then(|stage| self.structure.stages.get(stage));
        let Some(now) = stage.and_then(|stage| stage.sequences.get(&run.sequence)) else {
            return false;
        };
        let (mine, newest) = (run.definition.slots(&run.sequence), now.slots(&run.sequence));
        let Some(at) = newest.iter().position(|it| it == slot) else { return false };
        let done = |step: usize| dep.status(&graph.nodes[step]).complete();
        !mine.contains(slot)
            && match newest.get(at + 1) {
                None => done(run.finished),
                Some(next) => {
                    mine.iter().position(|it| it == next).is_some_and(|task| done(run.tasks[task]))
                }
            }
    }

    fn line_up(
        &self,
        dep: &Dep,
        needs: &[Need],
        number: usize,
        lines: &mut Lines,
    ) -> Option<Verdict> {
        let full = |need: &Need| {
            let held = self.permits.get(&need.key).map_or(0, |permit| permit.holders.len());
            need.awaited
                || held >= need.batch.capacity as usize
                || lines.get(&need.key).is_some_and(|line| !line.is_empty())
        };
        // It stands in line up to the first permit that it cannot have; those further in only
        // matter to whoever got that far.
        let first = needs.iter().position(full)?;
        let needs = &needs[..=first];
        for need in needs.iter().filter(|need| !need.awaited) {
            let Policy::Supersede { max_replaced } = need.batch.policy else { continue };
            let replaced = self.permits.get(&need.key).map_or(0, |permit| permit.replaced);
            let line = lines.get(&need.key).map_or(&[][..], |line| line);
            let older = line.iter().find(|((revision, _), _, id)| {
                *revision < dep.revision && self.deployments[id].service == dep.service
            });
            if let Some((_, waiter, id)) = older.filter(|_| replaced < max_replaced) {
                return Some(Verdict::Replace(*id, need.key.clone(), *waiter));
            }
        }
        for need in needs.iter().filter(|need| !need.awaited) {
            lines.entry(need.key.clone()).or_default().push((dep.rank(), number, dep.id));
        }
        Some(Verdict::Wait(Wait::InLine))
    }

    fn replace(&self, id: DeploymentId, key: &Key, waiter: usize) -> Action {
        let dep = &self.deployments[&id];
        let graph = self.graph(dep);
        let node = &graph.nodes[waiter];
        let on = match (key, &node.run) {
            (Key::Range(..), Some(run)) => run.finished,
            (_, Some(run)) if dep.has_exempt(node.stage.as_ref()) => run.finished,
            _ => graph.stage_end(node.stage.as_ref().expect("only steps of stages wait in line")),
        };
        action(dep, &graph, on, Fact::Superseded, None, Some(Reason::Replaced))
    }

    /// A holder comes back to a permit that another had meanwhile.
    fn comes_back(
        &self,
        dep: &Dep,
        graph: &Graph,
        needs: &[Need],
        number: usize,
    ) -> Option<Verdict> {
        let node = &graph.nodes[number];
        let need = needs.iter().find(|need| {
            let last = self.permits.get(&need.key).and_then(|permit| permit.last.as_ref());
            let other = last.is_some_and(|last| {
                let member = matches!(need.key, Key::Member(..));
                (last.deployment, &last.run) != (need.holder.deployment, &need.holder.run)
                    && (member || last.revision != dep.revision)
            });
            other && need.returns && need.batch.capacity == 1
        })?;
        let last = self.permits[&need.key].last.as_ref().expect("it was just looked at");
        let newer = last.revision > dep.revision && last.service == dep.service;
        let stage = node.stage.as_ref().expect("only steps of stages need permits");
        let end = graph.stage_end(stage);
        let beside = dep.has_exempt(Some(stage));
        let (on, fact) = match (&need.key, &node.run) {
            (Key::Stage(_), Some(run)) if beside && newer => (run.finished, Fact::Superseded),
            (Key::Stage(_), Some(run)) if beside => (run.triggered + 1, Fact::Retried),
            (Key::Member(..), _) => (node.chain.expect("it is in a chain").0, Fact::Retried),
            (Key::Stage(_), _) | (_, None) if newer => (end, Fact::Superseded),
            (Key::Stage(_), _) | (_, None) => {
                let path = &graph.nodes[end].path;
                (graph.find(path, Kind::StageStarted)?, Fact::Retried)
            }
            (_, Some(run)) if newer => (run.finished, Fact::Superseded),
            (Key::Range(..), Some(run)) => {
                let first = run.definition.range.as_ref().map_or(0, |range| range.first as usize);
                (run.tasks[first], Fact::Retried)
            }
            (_, Some(run)) => (run.triggered + 1, Fact::Retried),
        };
        Some(Verdict::Act { on, fact, outcome: None, reason: None })
    }

    /// How a step without work ends: as the worst of what it joins.
    fn ending(&self, dep: &Dep, graph: &Graph, number: usize) -> (Fact, Option<Outcome>) {
        let node = &graph.nodes[number];
        let within: Vec<usize> = match node.kind {
            Kind::GroupFinished => {
                let same =
                    |it: &usize| graph.nodes[*it].path.starts_with(&format!("{}/", node.path));
                (0..number).filter(same).collect()
            }
            Kind::TaskDone | Kind::SequenceFinished | Kind::StageFinished => {
                let before = (0..number).filter(|it| graph.next[*it].contains(&number));
                before.filter(|it| is_latest(graph, *it)).collect()
            }
            Kind::PipelineFinished => (0..number).filter(|it| is_latest(graph, *it)).collect(),
            _ => Vec::new(),
        };
        let within = match &node.run {
            Some(run) if node.kind == Kind::SequenceFinished => run.tasks.clone(),
            _ => within,
        };
        let statuses: Vec<Status> = within.iter().map(|it| dep.status(&graph.nodes[*it])).collect();
        if statuses.contains(&Status::Failed) {
            (Fact::Failed, Some(Outcome::Fail))
        } else if statuses.contains(&Status::Superseded) || self.all_outdated(dep, graph, number) {
            (Fact::Superseded, None)
        } else if statuses.contains(&Status::Warned) {
            (Fact::Finished, Some(Outcome::Warning))
        } else {
            (Fact::Finished, Some(Outcome::Pass))
        }
    }

    /// A run of which nothing was done because a newer revision was everywhere.
    fn all_outdated(&self, dep: &Dep, graph: &Graph, number: usize) -> bool {
        let Some(run) = graph.nodes[number].run.as_ref() else { return false };
        if graph.nodes[number].kind != Kind::SequenceFinished {
            return false;
        }
        let inside = run.triggered..run.finished;
        let outdated = inside.clone().any(|it| dep.status(&graph.nodes[it]) == Status::Outdated);
        let worked = inside.into_iter().any(|it| {
            let node = &graph.nodes[it];
            let status = dep.status(node);
            let place = node.work || node.kind == Kind::MemberStarted;
            place && (status.finished() || status == Status::Failed)
        });
        outdated && !worked
    }

    fn is_superseded(&self, dep: &Dep, run: &Born) -> bool {
        let stage = format!("{}/{}", self.project, run.stage);
        let end = dep.facts.get(&(stage, Kind::StageFinished));
        end.is_some_and(|told| told.status == Status::Superseded)
    }

    /// The first run of a kind that is not ended yet.
    fn first_unended<'a>(
        &self,
        dep: &'a Dep,
        wanted: impl Fn(&Born) -> bool,
    ) -> Option<(String, &'a Born)> {
        let order = |run: &Born| {
            let stage = self.stage_order.iter().position(|it| *it == run.stage);
            let sequence = self.sequence_order.iter().position(|it| *it == run.sequence);
            (stage, sequence, run.number)
        };
        let gone = dep.born.iter().filter(|(path, run)| {
            let end = dep.facts.get(&((*path).clone(), Kind::SequenceFinished));
            wanted(run) && !end.is_some_and(|told| told.status.settled())
        });
        gone.min_by_key(|(_, run)| order(run)).map(|(path, run)| (path.clone(), run))
    }

    fn clean_up(&self, dep: &Dep, graph: &Graph) -> Option<Action> {
        let orphans = dep.facts.iter().filter(|((path, kind), told)| {
            told.status == Status::InFlight && graph.find(path, *kind).is_none()
        });
        let first: Option<(TargetId, &(String, Kind))> = orphans
            .map(|(key, told)| (told.target, key))
            .min_by_key(|(target, key)| (*target, key.1));
        if let Some((_, (path, kind))) = first {
            return Some(cancelled(dep, path.clone(), *kind, Reason::Orphaned));
        }
        let gone = |run: &Born| run.withdrawn || self.is_superseded(dep, run);
        if let Some((path, run)) = self.first_unended(dep, gone) {
            let reason = run.withdrawn.then_some(Reason::Withdrawn);
            let fact = if run.withdrawn { Fact::Cancelled } else { Fact::Superseded };
            let (kind, attempt) =
                (Kind::SequenceFinished, dep.attempt(&path, Kind::SequenceFinished));
            let (deployment, outcome) = (dep.id, None);
            return Some(Action { deployment, path, kind, fact, attempt, outcome, reason });
        }
        if dep.course != Course::Aborting {
            return None;
        }
        let flying: Vec<_> =
            graph.nodes.iter().filter(|node| dep.status(node) == Status::InFlight).collect();
        if !flying.is_empty() {
            let free = flying.iter().find(|node| !dep.is_claimed(node))?;
            return Some(cancelled(dep, free.path.clone(), free.kind, Reason::Aborted));
        }
        if let Some((path, _)) = self.first_unended(dep, |_| true) {
            return Some(cancelled(dep, path, Kind::SequenceFinished, Reason::Aborted));
        }
        let told = |path: &str, kind| {
            dep.facts.get(&(path.to_owned(), kind)).map_or(Status::Idle, |told| told.status)
        };
        for name in &self.stage_order {
            let path = format!("{}/{name}", self.project);
            let begun = told(&path, Kind::StageStarted) == Status::Passed;
            if begun && !told(&path, Kind::StageFinished).settled() {
                return Some(cancelled(dep, path, Kind::StageFinished, Reason::Aborted));
            }
        }
        let path = self.project.to_string();
        Some(cancelled(dep, path, Kind::PipelineFinished, Reason::Aborted))
    }
}

/// Whether no later run of its sequence says how it went.
fn is_latest(graph: &Graph, number: usize) -> bool {
    let Some(run) = &graph.nodes[number].run else { return true };
    let numbered = |path: &str| {
        let (run, number) = path.rsplit_once('#').expect("runs are numbered");
        (run.to_owned(), number.parse::<u32>().expect("runs are numbered"))
    };
    let (name, mine) = numbered(&run.path);
    let others = graph.nodes.iter().filter_map(|node| node.run.as_ref());
    others.map(|run| numbered(&run.path)).all(|(it, number)| it != name || number <= mine)
}

fn action(
    dep: &Dep,
    graph: &Graph,
    on: usize,
    fact: Fact,
    outcome: Option<Outcome>,
    reason: Option<Reason>,
) -> Action {
    let node = &graph.nodes[on];
    let (path, kind) = (node.path.clone(), node.kind);
    let attempt = dep.attempt(&path, kind);
    let attempt = if fact == Fact::Retried { attempt.next() } else { attempt };
    Action { deployment: dep.id, path, kind, fact, attempt, outcome, reason }
}

fn cancelled(dep: &Dep, path: String, kind: Kind, reason: Reason) -> Action {
    let (deployment, fact, attempt) = (dep.id, Fact::Cancelled, dep.attempt(&path, kind));
    Action { deployment, path, kind, fact, attempt, outcome: None, reason: Some(reason) }
}
