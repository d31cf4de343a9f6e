use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use seaway_model::{DeploymentId, Kind, Name, Revision, Seq};

use super::dep::{Course, Dep, Status};
use super::fold::Reference;
use super::graph::{Graph, Node};
use crate::structure::{Batch, Entry, Policy};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Stage(Name),
    Range(Name, Name),
    Service(Name, Name),
    Member(Name, Name),
}

/// A deployment, and the run that holds for it; the batch of a stage is held without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) deployment: DeploymentId,
    pub(super) revision: Revision,
    pub(super) service: Name,
    pub(super) run: String,
    /// For a member: its path, to see when its chain is through.
    pub(super) member: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Permit {
    pub(super) holders: Vec<Holder>,
    pub(super) last: Option<Holder>,
    pub(super) replaced: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Need {
    pub(super) key: Key,
    pub(super) batch: Batch,
    pub(super) holder: Holder,
    /// The range was opened and the permit lost.
    pub(super) returns: bool,
    /// It is not taken: whoever has it only has to be gone.
    pub(super) awaited: bool,
}

pub(super) type Rank = (Revision, Seq);

impl Dep {
    /// Whether a run that does not ask for the batch is open in a stage.
    pub(super) fn has_exempt(&self, stage: Option<&Name>) -> bool {
        let open = |path: &str| {
            let end = self.facts.get(&(path.to_owned(), Kind::SequenceFinished));
            !end.is_some_and(|told| told.status.settled())
        };
        let mut born = self.born.iter().filter(|(_, born)| Some(&born.stage) == stage);
        born.any(|(path, born)| born.exempt && !born.withdrawn && open(path))
    }

    pub(super) fn rank(&self) -> Rank {
        (self.revision, self.started)
    }
}

/// Runs that hold a range or a member.
type Inner = BTreeSet<(DeploymentId, String)>;

fn inner_holders(permits: &BTreeMap<Key, Permit>) -> Inner {
    let inner = permits.iter().filter(|(key, _)| matches!(key, Key::Range(..) | Key::Member(..)));
    let holders = inner.flat_map(|(_, permit)| &permit.holders);
    holders.map(|holder| (holder.deployment, holder.run.clone())).collect()
}

fn one() -> Batch {
    Batch { capacity: 1, policy: Policy::Queue }
}

impl Dep {
    /// Whether a run began in a stage that asks for its batch.
    fn was_batched(&self, stage: &Name) -> bool {
        self.pins.keys().any(|run| {
            let born = self.born.get(run);
            let here = run.split('/').nth(1) == Some(stage.as_str());
            here && !born.is_some_and(|born| born.exempt || born.withdrawn)
        })
    }
}

impl Reference {
    /// Whether a step does not ask for the batch of its stage: something outside started its run,
    /// or a run that the stage starts for.
    fn goes_beside(dep: &Dep, node: &Node) -> bool {
        match &node.run {
            Some(run) => dep.born.get(&run.path).is_some_and(|born| born.exempt),
            None => node.kind == Kind::StageStarted && dep.has_exempt(node.stage.as_ref()),
        }
    }

    /// The permits that a step needs and its holder does not have.
    pub(super) fn needs(&self, dep: &Dep, graph: &Graph, number: usize) -> Vec<Need> {
        let node = &graph.nodes[number];
        let Some(stage) = &node.stage else { return Vec::new() };
        let holder = |run: String, member| Holder {
            deployment: dep.id,
            revision: dep.revision,
            service: dep.service.clone(),
            run,
            member,
        };
        let mut needs = Vec::new();
        needs.extend(self.need_of_stage(dep, graph, node, holder(String::new(), None)));
        if let Some(run) = node.run.as_ref().filter(|_| node.kind != Kind::SequenceTriggered) {
            let root = dep.root(&run.path);
            let returns = dep.status(&graph.nodes[run.triggered + 1]).finished();
            let key = Key::Service(stage.clone(), dep.service.clone());
            let awaited = false;
            let service = holder(root.clone(), None);
            needs.push(Need { key, batch: one(), holder: service, returns, awaited });
            if let (Some(range), Some(task)) = (&run.definition.range, node.task) {
                let key = Key::Range(stage.clone(), run.sequence.clone());
                let (batch, holder) = (range.batch.clone(), holder(root, None));
                let returns = graph.nodes[run.triggered..run.finished].iter().any(|it| {
                    let work = it.work && it.member.is_none();
                    let opening = it.task == Some(range.first as usize)
                        && (it.kind == Kind::GroupStarted || work);
                    let status = dep.status(it);
                    let dispatched = matches!(status, Status::InFlight | Status::Failed);
                    opening && (dispatched || status.finished())
                });
                if (range.first..=range.last).contains(&(task as u32)) {
                    needs.push(Need { key, batch, holder, returns, awaited });
                }
            }
            if let (Some(member), Some((first, _))) = (&node.member, node.chain) {
                let key = Key::Member(member.clone(), dep.service.clone());
                let holder = holder(run.path.clone(), Some(node.path.clone()));
                let returns = dep.status(&graph.nodes[first]).finished();
                needs.push(Need { key, batch: one(), holder, returns, awaited });
            }
        }
        needs.retain(|need| {
            let same = |it: &Holder| {
                let mine = (it.deployment, &it.run) == (need.holder.deployment, &need.holder.run);
                mine && it.member == need.holder.member
            };
            let held = self.permits.get(&need.key).is_some_and(|it| it.holders.iter().any(same));
            need.batch.policy.excludes() && !held
        });
        needs
    }

    /// What a step needs of the batch around its stage.
    fn need_of_stage(&self, dep: &Dep, graph: &Graph, node: &Node, holder: Holder) -> Option<Need> {
        let stage = node.stage.as_ref()?;
        let now = self.structure.stages.get(stage);
        let definition = now.or(dep.ghosts.get(stage).map(|ghost| &ghost.0))?;
        let batch = definition.batch.clone()?;
        let triggered = definition.entry == Entry::Triggered;
        let started = graph.nodes.iter().any(|it| {
            let opening = it.kind == Kind::StageStarted && it.stage == node.stage;
            opening && dep.status(it).finished()
        });
        let returns = match &node.run {
            Some(run) if triggered => dep.pins.contains_key(&run.path),
            _ => started,
        };
        if triggered && node.kind == Kind::StageFinished && !dep.was_batched(stage) {
            return None;
        }
        let key = Key::Stage(stage.clone());
        let awaited = triggered && Self::goes_beside(dep, node);
        let service = Key::Service(stage.clone(), dep.service.clone());
        let root = node.run.as_ref().map(|run| dep.root(&run.path));
        let mine = |it: &Holder| it.deployment == dep.id && Some(&it.run) == root.as_ref();
        let inside = self.permits.get(&service).is_some_and(|it| it.holders.iter().any(mine));
        let needed = !awaited || (!inside && self.changes_service(&key, dep));
        needed.then_some(Need { key, batch, holder, returns, awaited })
    }

    /// Whether somebody else who holds a batch is there with the same service.
    fn changes_service(&self, key: &Key, dep: &Dep) -> bool {
        let holders = self.permits.get(key).into_iter().flat_map(|permit| &permit.holders);
        let mut others = holders.filter(|holder| holder.deployment != dep.id);
        others.any(|holder| self.deployments[&holder.deployment].service == dep.service)
    }

    pub(super) fn enter(&mut self, id: DeploymentId, key: &(String, Kind)) {
        let dep = &self.deployments[&id];
        let graph = self.graph(dep);
        let Some(number) = graph.find(&key.0, key.1) else { return };
        let needs = self.needs(dep, &graph, number);
        if let Some(place) = self.place(dep, &graph, number) {
            let newest = self.newest.entry(place).or_default();
            *newest = self.deployments[&id].revision.max(*newest);
        }
        for need in needs.into_iter().filter(|need| !need.awaited) {
            let permit = self.permits.entry(need.key).or_default();
            permit.holders.push(need.holder.clone());
            permit.last = Some(need.holder);
            permit.replaced = 0;
        }
    }

    /// A batch that is put around a stage includes those who are in it.
    pub(super) fn grant_batches(&mut self, old: &crate::Structure) {
        let mut granted = Vec::new();
        for dep in self.deployments.values().filter(|dep| !dep.ended(&self.project)) {
            for (name, stage) in &self.structure.stages {
                let told = |kind| {
                    let key = (format!("{}/{name}", self.project), kind);
                    dep.facts.get(&key).map_or(Status::Idle, |told| told.status)
                };
                let inside =
                    told(Kind::StageStarted).finished() && !told(Kind::StageFinished).settled();
                let batch = |stage: &crate::Stage| {
                    stage.batch.as_ref().is_some_and(|it| it.policy.excludes())
                };
                let before = old.stages.get(name).is_some_and(|stage| batch(stage));
                let excludes = !before && batch(stage);
                let holder = Holder {
                    deployment: dep.id,
                    revision: dep.revision,
                    service: dep.service.clone(),
                    run: String::new(),
                    member: None,
                };
                let key = Key::Stage(name.clone());
                let held = self.permits.get(&key).is_some_and(|it| it.holders.contains(&holder));
                if inside && excludes && !held {
                    granted.push((dep.started, key, holder));
                }
            }
        }
        granted.sort_by_key(|(started, _, _)| *started);
        for (_, key, holder) in granted {
            let permit = self.permits.entry(key).or_default();
            permit.holders.push(holder.clone());
            permit.last = Some(holder);
            permit.replaced = 0;
        }
    }

    pub(super) fn count_replaced(&mut self, id: DeploymentId, key: &(String, Kind)) {
        let dep = &self.deployments[&id];
        let graph = self.graph(dep);
        let Some(number) = graph.find(&key.0, key.1) else { return };
        let node = &graph.nodes[number];
        let stage = node.stage.clone().expect("only stages and runs are replaced");
        let key = match &node.run {
            Some(run) if dep.pins.contains_key(&run.path) => {
                Key::Range(stage, run.sequence.clone())
            }
            _ => Key::Stage(stage),
        };
        self.permits.entry(key).or_default().replaced += 1;
    }

    /// The place that a step is about.
    pub(super) fn place(&self, dep: &Dep, graph: &Graph, number: usize) -> Option<String> {
        let node = &graph.nodes[number];
        let stage = node.stage.as_ref()?;
        let what = match (&node.group, &node.member, node.chain) {
            (Some(group), Some(member), Some(_)) => {
                format!("{group}/{member}")
            }
            (None, None, None) if node.work => format!("{:?}", node.slot),
            _ => return None,
        };
        Some(format!("{stage}/{}/{what}", dep.service))
    }

    /// Looks at every permit and takes it from those who no longer need it.
    pub(super) fn release(&mut self) {
        let mut permits = std::mem::take(&mut self.permits);
        let holders = permits.values().flat_map(|permit| &permit.holders);
        let graphs: BTreeMap<DeploymentId, Rc<Graph>> = holders
            .map(|holder| holder.deployment)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|id| (id, self.graph(&self.deployments[&id])))
            .collect();
        // Ranges and members first: who holds one keeps the service too.
        for service in [false, true] {
            let inner = inner_holders(&permits);
            let turn = |key: &Key| matches!(key, Key::Service(..)) == service;
            for (key, permit) in permits.iter_mut().filter(|(key, _)| turn(key)) {
                permit.holders.retain(|holder| {
                    self.still_needs(key, holder, &graphs[&holder.deployment], &inner)
                });
            }
        }
        self.permits = permits;
    }

    fn still_needs(&self, key: &Key, holder: &Holder, graph: &Graph, inner: &Inner) -> bool {
        let dep = &self.deployments[&holder.deployment];
        if dep.ended(&self.project) {
            return false;
        }
        let told = |path: &str, kind| {
            dep.facts.get(&(path.to_owned(), kind)).map_or(Status::Idle, |told| told.status)
        };
        // What left the structure is in flight too until it is cancelled.
        let busy = |above: &str| {
            let inside = format!("{above}/");
            dep.facts.iter().any(|((path, _), told)| {
                path.starts_with(&inside) && told.status == Status::InFlight
            })
        };
        if let Key::Stage(stage) = key {
            let path = format!("{}/{stage}", self.project);
            return !told(&path, Kind::StageFinished).settled() || busy(&path);
        }
        if dep.born.contains_key(&holder.run) && !matches!(key, Key::Member(..)) {
            return self.family_still_needs(dep, key, holder, graph, inner);
        }
        let (stage, _) = holder.run.rsplit_once('/').expect("runs are below a stage");
        let end = told(stage, Kind::StageFinished);
        let over = (end.settled() && end != Status::Failed)
            || told(&holder.run, Kind::SequenceFinished).settled();
        let in_run = |node: &Node| node.run.as_ref().is_some_and(|run| run.path == holder.run);
        if over && !busy(&holder.run) {
            return false;
        }
        let run: Vec<&Node> = graph.nodes.iter().filter(|node| in_run(node)).collect();
        match key {
            Key::Service(..) => {
                busy(&holder.run)
                    || dep.course != Course::Paused
                    || inner.contains(&(holder.deployment, holder.run.clone()))
            }
            Key::Range(..) => run.iter().filter(|node| node.kind == Kind::TaskDone).any(|node| {
                let run = node.run.as_ref().expect("it is in the run");
                let range = run.definition.range.as_ref();
                let closes = range.is_some_and(|range| node.task == Some(range.last as usize));
                closes && !dep.status(node).complete()
            }),
            _ => member_still_needs(dep, graph, holder),
        }
    }
}

impl Dep {
    /// The run in whose name a run holds permits.
    fn root(&self, run: &str) -> String {
        self.born.get(run).map_or_else(|| run.to_owned(), |born| born.root.clone())
    }

    fn told(&self, path: &str, kind: Kind) -> Status {
        self.facts.get(&(path.to_owned(), kind)).map_or(Status::Idle, |told| told.status)
    }

    /// What of a run is in flight.
    fn flying(&self, run: &str) -> Vec<String> {
        let inside = format!("{run}/");
        let facts = self.facts.iter();
        let mine = facts.filter(|((path, _), told)| {
            path.starts_with(&inside) && told.status == Status::InFlight
        });
        mine.map(|((path, _), _)| path.clone()).collect()
    }
}

impl Reference {
    /// A run and those that its failure triggered hold together, until all of them are through.
    fn family_still_needs(
        &self,
        dep: &Dep,
        key: &Key,
        holder: &Holder,
        graph: &Graph,
        inner: &Inner,
    ) -> bool {
        let family = dep.born.iter().filter(|(_, run)| run.root == holder.run);
        family.into_iter().any(|(path, run)| {
            let flying = dep.flying(path);
            let stage = format!("{}/{}", self.project, run.stage);
            let stage_end = dep.told(&stage, Kind::StageFinished);
            let stage_over = stage_end.settled() && stage_end != Status::Failed;
            let end = dep.told(path, Kind::SequenceFinished);
            if (end.settled() || stage_over) && flying.is_empty() {
                let heirs = dep.causes.iter().filter(|(_, it)| it.run.as_ref() == Some(path));
                let heirs = heirs.flat_map(|(at, cause)| self.dues(dep, (*at, cause)));
                let mut here = heirs.filter(|(stage, _, _)| *stage == run.stage);
                return end == Status::Failed && !stage_over && here.next().is_some();
            }
            if run.withdrawn {
                return false;
            }
            match key {
                Key::Range(_, sequence) if *sequence == run.sequence => {
                    range_is_open(dep, graph, path)
                }
                Key::Range(_, sequence) => descends(dep, path, sequence),
                _ => {
                    let approves = |path: &String| {
                        let task = path.rsplit('/').next().unwrap_or_default();
                        task.split(':').next() == Some("approval")
                    };
                    let waits = flying.len() == 1 && flying.iter().all(approves);
                    let paused = flying.is_empty() && dep.course == Course::Paused;
                    let kept = inner.contains(&(holder.deployment, holder.run.clone()));
                    kept || !(waits || paused)
                }
            }
        })
    }
}

/// Whether a run was triggered by the failure of a run of that sequence, or of one that was.
fn descends(dep: &Dep, path: &str, sequence: &Name) -> bool {
    let Some(born) = dep.born.get(path).filter(|born| born.root != path) else { return false };
    let cause = born.from.as_ref().and_then(|(at, _)| dep.causes.get(at));
    let Some(parent) = cause.and_then(|cause| cause.run.as_ref()) else { return false };
    dep.born[parent].sequence == *sequence || descends(dep, parent, sequence)
}

fn range_is_open(dep: &Dep, graph: &Graph, path: &str) -> bool {
    graph.nodes.iter().any(|node| {
        let Some(run) = node.run.as_ref().filter(|run| run.path == path) else { return false };
        let range = run.definition.range.as_ref();
        let closes = range.is_some_and(|range| node.task == Some(range.last as usize));
        node.kind == Kind::TaskDone && closes && !dep.status(node).complete()
    })
}

fn member_still_needs(dep: &Dep, graph: &Graph, holder: &Holder) -> bool {
    let path = holder.member.as_deref().expect("member permits name the member");
    let Some(first) = graph.nodes.iter().position(|node| node.path == path) else {
        let flying = |((it, _), told): (&(String, Kind), &super::dep::Told)| {
            it == path && told.status == Status::InFlight
        };
        return dep.facts.iter().any(flying);
    };
    let Some((first, last)) = graph.nodes[first].chain else { return false };
    let chain: Vec<Status> = graph.nodes[first..=last].iter().map(|it| dep.status(it)).collect();
    let ended = chain.contains(&Status::Failed) || chain[chain.len() - 1].complete();
    let begun = chain[0] != Status::Idle;
    chain.contains(&Status::InFlight) || (begun && !ended)
}
