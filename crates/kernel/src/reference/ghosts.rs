use std::sync::Arc;

use seaway_model::{Kind, Name};

use super::dep::{Dep, Status};
use super::fold::Reference;
use crate::record::Record;
use crate::structure::{Stage, Structure};

impl Reference {
    /// A stage that left is forgotten once it has ended well and no run needs it any more.
    pub(super) fn lay_ghosts(&mut self, record: &Record) {
        let project = self.project.clone();
        let dep = record.deployment.and_then(|id| self.deployments.get_mut(&id));
        let Some(dep) = dep.filter(|dep| !dep.ghosts.is_empty()) else { return };
        let facts = &dep.facts;
        dep.ghosts.retain(|name, _| {
            let path = format!("{project}/{name}");
            let inside = format!("{path}/");
            let end = facts.get(&(path, Kind::StageFinished));
            let needed = facts.iter().any(|((path, _), told)| {
                path.starts_with(&inside)
                    && matches!(told.status, Status::InFlight | Status::Failed)
            });
            needed || end.is_none_or(|told| !told.status.complete())
        });
        self.graphs.get_mut().remove(&dep.id);
    }
}

/// A stage that left stays for a deployment that is in it, or that came to grief in it.
pub(super) fn keep_ghosts(project: &Name, dep: &mut Dep, old: &Structure, new: &Structure) {
    dep.ghosts.retain(|name, _| !new.stages.contains_key(name));
    for (name, stage) in &old.stages {
        if new.stages.contains_key(name) {
            continue;
        }
        let path = format!("{project}/{name}");
        let end = dep.facts.get(&(path.clone(), Kind::StageFinished));
        let end = end.map_or(Status::Idle, |told| told.status);
        let begun = dep.pins.keys().any(|run| run.starts_with(&format!("{path}/")));
        let broken = matches!(end, Status::Failed | Status::Superseded);
        let inside = format!("{path}/");
        let needed = dep.facts.iter().any(|((path, _), told)| {
            path.starts_with(&inside) && matches!(told.status, Status::InFlight | Status::Failed)
        });
        if (!end.complete() || needed) && (begun || broken) {
            let after = |(_, it): &(&Name, &Arc<Stage>)| it.after.contains(name);
            let followers = old.stages.iter().filter(after).map(|(name, _)| name.clone());
            dep.ghosts.insert(name.clone(), (stage.clone(), followers.collect()));
        }
    }
    for (_, followers) in dep.ghosts.values_mut() {
        followers.retain(|name| new.stages.contains_key(name));
    }
}
