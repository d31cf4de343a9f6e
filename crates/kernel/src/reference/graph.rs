use std::collections::BTreeSet;
use std::rc::Rc;

use seaway_model::{Kind, Name};

use super::dep::{Dep, Status};
use super::fold::Reference;
use crate::structure::{Entry, Sequence, Slot, Stage, When};

/// A run: its sequence, its path and its definition.
type Found = (Name, String, std::sync::Arc<Sequence>);

/// One step, with everything that the rules ask about it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) stage: Option<Name>,
    pub(super) run: Option<RunRef>,
    pub(super) task: Option<usize>,
    pub(super) group: Option<Name>,
    pub(super) member: Option<Name>,
    pub(super) slot: Option<Slot>,
    pub(super) work: bool,
    /// First and last step of the member's chain, for steps in one that changes the member.
    pub(super) chain: Option<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunRef {
    pub(super) path: String,
    pub(super) sequence: Name,
    pub(super) definition: std::sync::Arc<Sequence>,
    pub(super) triggered: usize,
    pub(super) finished: usize,
    /// The `task-done` steps, in order.
    pub(super) tasks: Vec<usize>,
}

/// The whole plan of one deployment as the structure is now.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// Passing edges, whatever happened so far.
    pub(super) next: Vec<Vec<usize>>,
    pub(super) after: Vec<BTreeSet<usize>>,
}

impl Graph {
    pub(super) fn find(&self, path: &str, kind: Kind) -> Option<usize> {
        self.nodes.iter().position(|node| node.path == path && node.kind == kind)
    }

    pub(super) fn stage_end(&self, stage: &Name) -> usize {
        let end =
            |node: &Node| node.kind == Kind::StageFinished && node.stage.as_ref() == Some(stage);
        self.nodes.iter().position(end).expect("every stage of the graph has an end")
    }

    pub(super) fn last(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Where the walk enters a task, given how the run went so far.
    pub(super) fn enter(&self, dep: &Dep, run: &RunRef, task: usize) -> Vec<usize> {
        let Some(&done) = run.tasks.get(task) else { return vec![run.finished] };
        if self.condition_holds(dep, run, task) {
            let before = if task == 0 { run.triggered + 1 } else { run.tasks[task - 1] };
            return self.next[before].clone();
        }
        vec![done]
    }

    pub(super) fn condition_holds(&self, dep: &Dep, run: &RunRef, task: usize) -> bool {
        let failed =
            run.tasks[..task].iter().any(|&done| dep.status(&self.nodes[done]) == Status::Failed);
        match run.definition.tasks[task].when {
            When::Always => true,
            When::Succeeded => !failed,
            When::Failed => failed,
        }
    }
}

/// Builds the graph step by step, in the order in which steps are considered.
struct Builder<'a> {
    reference: &'a Reference,
    dep: &'a Dep,
    graph: Graph,
}

impl Reference {
    /// The plan of a deployment. It only changes with the structure and when a run is pinned, so
    /// it is kept until then.
    pub(super) fn graph(&self, dep: &Dep) -> Rc<Graph> {
        let mut graphs = self.graphs.borrow_mut();
        graphs.entry(dep.id).or_insert_with(|| Rc::new(self.draw(dep))).clone()
    }

    fn draw(&self, dep: &Dep) -> Graph {
        let graph = Graph { nodes: Vec::new(), next: Vec::new(), after: Vec::new() };
        let mut builder = Builder { reference: self, dep, graph };
        builder.pipeline();
        let Builder { mut graph, .. } = builder;
        graph.after = (0..graph.nodes.len()).map(|node| flood(&graph, node)).collect();
        graph
    }
}

fn flood(graph: &Graph, from: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open = graph.next[from].clone();
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            open.extend(&graph.next[node]);
        }
    }
    seen
}

impl Builder<'_> {
    fn add(&mut self, node: Node) -> usize {
        self.graph.nodes.push(node);
        self.graph.next.push(Vec::new());
        self.graph.nodes.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize) {
        if !self.graph.next[from].contains(&to) {
            self.graph.next[from].push(to);
        }
    }

    fn pipeline(&mut self) {
        let project = self.reference.project.to_string();
        let start = self.add(plain(project.clone(), Kind::PipelineStarted));
        let mut ends = Vec::new();
        for name in &self.reference.stage_order {
            let now = self.reference.structure.stages.get(name).map(|stage| &**stage);
            let ghost = self.dep.ghosts.get(name).map(|ghost| &*ghost.0);
            if let Some(stage) = now.or(ghost)
                && self.is_entered(&project, name, stage)
            {
                let (first, last) = self.stage(&project, name, stage, now.is_some());
                ends.push((name.clone(), first, last));
            }
        }
        let finish = self.add(plain(project, Kind::PipelineFinished));
        for (name, first, _) in &ends {
            let mut before: Vec<Name> = match self.reference.structure.stages.get(name) {
                Some(stage) => stage.after.iter().cloned().collect(),
                None => Vec::new(),
            };
            let ghosts = self.dep.ghosts.iter();
            before.extend(ghosts.filter(|(_, it)| it.1.contains(name)).map(|(it, _)| it.clone()));
            if before.is_empty() {
                self.edge(start, *first);
            }
            for earlier in before {
                let found = ends.iter().find(|(it, _, _)| *it == earlier);
                let (_, _, end) = found.expect("predecessors exist");
                self.edge(*end, *first);
            }
        }
        for (_, _, last) in &ends {
            if self.graph.next[*last].is_empty() {
                self.edge(*last, finish);
            }
        }
        if ends.is_empty() {
            self.edge(start, finish);
        }
    }

    /// Triggered stages are only there for those who were triggered in them.
    fn is_entered(&self, project: &str, name: &Name, stage: &Stage) -> bool {
        let key = (format!("{project}/{name}"), Kind::StageStarted);
        let started = self.dep.facts.get(&key).is_some_and(|told| told.status.complete());
        let mut runs = self.dep.born.values();
        stage.entry == Entry::Ordered
            || started
            || runs.any(|run| run.stage == *name && !run.withdrawn)
    }

    /// The runs that a stage has: of every sequence, or whatever was triggered.
    fn runs(&self, path: &str, name: &Name, stage: &Stage, now: bool) -> Vec<Found> {
        let mut runs = Vec::new();
        for sequence in &self.reference.sequence_order {
            let current = if now { stage.sequences.get(sequence) } else { None };
            let mut numbers = vec![1];
            if stage.entry == Entry::Triggered {
                let born = self.dep.born.values().filter(|run| !run.withdrawn);
                let here = born.filter(|run| run.stage == *name && run.sequence == *sequence);
                numbers = here.map(|run| run.number).collect();
            }
            // What has begun goes on, also when its stage is entered in another way now.
            let mine = format!("{path}/{sequence}#");
            let begun = self.dep.pins.keys().filter_map(|run| run.strip_prefix(&mine));
            numbers.extend(begun.filter_map(|number| number.parse::<u32>().ok()));
            numbers.sort_unstable();
            numbers.dedup();
            for number in numbers {
                let run = format!("{path}/{sequence}#{number}");
                let definition = self.dep.pins.get(&run).or(current).cloned();
                runs.extend(definition.map(|it| (sequence.clone(), run, it)));
            }
        }
        runs
    }

    fn stage(&mut self, project: &str, name: &Name, stage: &Stage, now: bool) -> (usize, usize) {
        let path = format!("{project}/{name}");
        let here = |kind| Node { stage: Some(name.clone()), ..plain(path.clone(), kind) };
        let start = self.add(here(Kind::StageStarted));
        let mut ends = Vec::new();
        for (sequence, run, definition) in self.runs(&path, name, stage, now) {
            let (first, last) = self.run(name, stage, &sequence, run, definition);
            // What triggers a run is not a step of its stage: it comes before the stage starts.
            self.edge(start, first + usize::from(stage.entry == Entry::Triggered));
            ends.push(last);
        }
        let finish = self.add(here(Kind::StageFinished));
        for end in &ends {
            self.edge(*end, finish);
        }
        if ends.is_empty() {
            self.edge(start, finish);
        }
        (start, finish)
    }

    fn run(
        &mut self,
        name: &Name,
        stage: &Stage,
        sequence: &Name,
        path: String,
        definition: std::sync::Arc<Sequence>,
    ) -> (usize, usize) {
        let here = |kind| Node { stage: Some(name.clone()), ..plain(path.clone(), kind) };
        let first = self.add(here(Kind::SequenceTriggered));
        let started = self.add(here(Kind::SequenceStarted));
        self.edge(first, started);
        let mut before = started;
        let mut tasks = Vec::new();
        let (parts, slots) = (definition.parts(), definition.slots(sequence));
        for (number, task) in definition.tasks.iter().enumerate() {
            let target = format!("{path}/{}", parts[number]);
            let base = Node { task: Some(number), ..here(Kind::TaskDone) };
            let base = Node { path: target, ..base };
            let groups: Vec<&Name> =
                task.groups.iter().filter(|group| stage.groups.contains_key(*group)).collect();
            let ends: Vec<usize> =
                groups.iter().map(|group| self.group(&base, stage, group, before)).collect();
            let (slot, work) = (Some(slots[number].clone()), groups.is_empty());
            let done = self.add(Node { slot, work, ..base });
            ends.iter().for_each(|end| self.edge(*end, done));
            if work {
                self.edge(before, done);
            }
            tasks.push(done);
            before = done;
        }
        let last = self.add(here(Kind::SequenceFinished));
        self.edge(before, last);
        let run = RunRef {
            path,
            sequence: sequence.clone(),
            definition,
            triggered: first,
            finished: last,
            tasks,
        };
        self.graph.nodes[first..=last].iter_mut().for_each(|node| node.run = Some(run.clone()));
        (first, last)
    }

    fn group(&mut self, base: &Node, stage: &Stage, name: &Name, before: usize) -> usize {
        let path = format!("{}/{name}", base.path);
        let group = &stage.groups[name];
        let here = |kind| Node {
            path: path.clone(),
            kind,
            group: Some(name.clone()),
            slot: Some(Slot::Kind(kind)),
            ..base.clone()
        };
        let start = self.add(here(Kind::GroupStarted));
        self.edge(before, start);
        let mut ends = Vec::new();
        for member in group.members.iter() {
            let mut before = start;
            let first = self.graph.nodes.len();
            let last = first + group.chain.len() - 1;
            let changes = group.chain[0] == Kind::MemberStarted;
            for &kind in &group.chain {
                let node = Node {
                    path: format!("{path}/{member}"),
                    member: Some(member.clone()),
                    work: !kind.is_marker(),
                    chain: changes.then_some((first, last)),
                    ..here(kind)
                };
                let link = self.add(node);
                self.edge(before, link);
                before = link;
            }
            ends.push(before);
        }
        let finish = self.add(here(Kind::GroupFinished));
        ends.iter().for_each(|end| self.edge(*end, finish));
        if ends.is_empty() {
            self.edge(start, finish);
        }
        finish
    }
}

fn plain(path: String, kind: Kind) -> Node {
    Node {
        path,
        kind,
        stage: None,
        run: None,
        task: None,
        group: None,
        member: None,
        slot: None,
        work: false,
        chain: None,
    }
}
