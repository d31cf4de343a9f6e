use seaway_model::{DeploymentId, Kind};

use super::dep::{Dep, Status};
use super::fold::Reference;
use super::graph::Node;

impl Reference {
    /// Opens the next attempt of everything after a step in its run (or in its stage, when that
    /// starts again), and of the step itself.
    pub(super) fn reopen(&mut self, id: DeploymentId, key: &(String, Kind), itself: bool) {
        let graph = self.graph(&self.deployments[&id]);
        let Some(from) = graph.find(&key.0, key.1) else { return };
        let origin = graph.nodes[from].clone();
        let project = self.project.to_string();
        let dep = self.deployments.get_mut(&id).expect("it was started");
        let ended = dep
            .facts
            .iter()
            .filter(|(_, told)| told.status.settled() || told.status == Status::Backoff);
        let reopened: Vec<(String, Kind)> = ended
            .filter(|((path, kind), _)| {
                let ends = match kind {
                    Kind::PipelineFinished => *path == project,
                    Kind::StageFinished => Some(path.as_str()) == stage_of(&project, &origin),
                    _ => false,
                };
                let same = *path == key.0 && *kind == key.1;
                if origin.kind == Kind::StageStarted && !starts_again(dep, path, *kind) {
                    return ends;
                }
                ends || (same && itself) || (!same && reopens(&origin, path, *kind, itself))
            })
            .map(|(key, _)| key.clone())
            .collect();
        for key in reopened {
            if let Some(told) = dep.facts.get_mut(&key).filter(|it| it.status != Status::Idle) {
                told.status = Status::Idle;
                (told.attempt, told.spent) = (told.attempt.next(), 0);
            }
        }
    }
}

/// The path of the stage that a step is in.
fn stage_of<'a>(project: &str, origin: &'a Node) -> Option<&'a str> {
    let stage = origin.stage.as_ref()?;
    origin.path.get(..project.len() + 1 + stage.as_str().len())
}

/// When a stage starts again, what was triggered in it stays triggered, and what ended there has
/// ended.
fn starts_again(dep: &Dep, path: &str, kind: Kind) -> bool {
    let run = path.split('/').take(3).collect::<Vec<_>>().join("/");
    let end = dep.facts.get(&(run.clone(), Kind::SequenceFinished));
    let over = end.is_some_and(|told| told.status.settled());
    !dep.born.contains_key(&run) || (kind != Kind::SequenceTriggered && !over)
}

/// Whether a step, in the structure or gone from it, comes after another in its run (or is in its
/// stage, when that starts again).
fn reopens(origin: &Node, path: &str, kind: Kind, itself: bool) -> bool {
    let below = |above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
    if origin.kind == Kind::StageStarted {
        return below(&origin.path);
    }
    let Some(run) = origin.run.as_ref() else { return false };
    if path != run.path && !below(&run.path) {
        return false;
    }
    let parts = run.definition.parts();
    let phase = |path: &str, kind: Kind| match (path[run.path.len()..].split('/').nth(1), kind) {
        (None, Kind::SequenceTriggered) => 0,
        (None, Kind::SequenceStarted) => 1,
        (None, _) => usize::MAX,
        (Some(task), _) => 2 + parts.iter().position(|it| it == task).unwrap_or(parts.len()),
    };
    let (mine, its) = (phase(&origin.path, origin.kind), phase(path, kind));
    if mine != its {
        return its > mine;
    }
    match (origin.kind, kind) {
        (Kind::TaskDone, _) => itself,
        (_, Kind::TaskDone) => true,
        (Kind::GroupFinished, _) => false,
        (Kind::GroupStarted, _) => path == origin.path || below(&origin.path),
        (_, Kind::GroupFinished) => origin.path.starts_with(&format!("{path}/")),
        _ => path == origin.path && kind > origin.kind,
    }
}
