use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{Kind, Name, Span};

use super::trigger::{Event, Trigger};
use super::types::{Entry, Policy, Sequence, Stage, Structure, Task};

/// Why a structure cannot be used, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StructureError {
    #[error("the stages {} wait for each other; remove one of these edges", path(.0))]
    Cycle(Vec<Name>),
    #[error("stage {stage} comes after {after}, which does not exist; add it or drop the edge")]
    UnknownPredecessor { stage: Name, after: Name },
    #[error("stage {0} does not exist")]
    UnknownStage(Name),
    #[error("stage {stage} has no sequence {sequence}")]
    UnknownSequence { stage: Name, sequence: Name },
    #[error("stage {stage} has no group {group}; add the group before it is used")]
    UnknownGroup { stage: Name, group: Name },
    #[error("sequence {stage}.{sequence} has no task; give it at least one")]
    NoTasks { stage: Name, sequence: Name },
    #[error(
        "sequence {stage}.{sequence} uses the id {id} twice, or as the name of a task without an \
         id; ids are unique in a sequence"
    )]
    DuplicateId { stage: Name, sequence: Name, id: Name },
    #[error("task {task} of {stage}.{sequence} names group {group} twice")]
    DuplicateGroup { stage: Name, sequence: Name, task: Name, group: Name },
    #[error("the batch of {stage} has no room; its capacity is at least 1")]
    NoCapacity { stage: Name },
    #[error("the batch in {stage}.{sequence} must lie inside its task list, first before last")]
    BadRange { stage: Name, sequence: Name },
    #[error(
        "group {group} of {stage} has the chain [{}]; allowed is artifact-registered alone, or \
         member-started, any of artifact-replicated, member-deployed, member-tested in this \
         order, member-finished", chain_text(.chain)
    )]
    BadChain { stage: Name, group: Name, chain: Vec<Kind> },
    #[error(
        "stage {0} is entered by triggers, so that it neither comes after a stage nor before one; \
         use triggers for the order"
    )]
    OrderedAndTriggered(Name),
    #[error(
        "sequence {stage}.{sequence} starts with its stage; only a triggered stage has triggers"
    )]
    NotTriggered { stage: Name, sequence: Name },
    #[error(
        "sequence {stage}.{sequence} is triggered on {event}, which does not exist; name a \
         sequence of a triggered stage"
    )]
    UnknownTrigger { stage: Name, sequence: Name, event: Box<str> },
    #[error(
        "the properties of task {task} in {stage}.{sequence} are not the text of a JSON object"
    )]
    BadProperties { stage: Name, sequence: Name, task: Name },
    #[error("a time in {stage}.{sequence} is negative or longer than {} days", MAX_TIME.0 / DAY)]
    BadTime { stage: Name, sequence: Name },
    #[error("an edit of the structure has nothing in it")]
    Empty,
    #[error("a structure has at most {limit} {what}")]
    TooMany { what: &'static str, limit: usize },
}

fn path(cycle: &[Name]) -> String {
    cycle.iter().map(Name::as_str).collect::<Vec<_>>().join(" -> ")
}

fn chain_text(chain: &[Kind]) -> String {
    chain.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ")
}

/// Bounds that keep a structure walkable; far above what people use.
const MAX_STAGES: usize = 10_000;
const MAX_TASKS: usize = 1_000;
const MAX_MEMBERS: usize = 5_000_000;
/// Of one sequence, over all members.
const MAX_STEPS: usize = 50_000_000;
const MAX_TRIGGERS: usize = 100;
const MAX_SEQUENCES: usize = 1_000;
/// How many sequences one event may start.
const MAX_FAN_OUT: usize = 100;
const MAX_RETRIES: u32 = 100;
const DAY: i64 = 86_400_000_000;
const MAX_TIME: Span = Span(365 * DAY);

/// Every rule that a structure must satisfy before anything may walk it.
pub(super) fn check(structure: &Structure) -> Result<(), StructureError> {
    if structure.stages.len() > MAX_STAGES {
        return Err(StructureError::TooMany { what: "stages", limit: MAX_STAGES });
    }
    for (name, stage) in &structure.stages {
        for after in &stage.after {
            if !structure.stages.contains_key(after) {
                let (stage, after) = (name.clone(), after.clone());
                return Err(StructureError::UnknownPredecessor { stage, after });
            }
        }
        check_stage(name, stage)?;
        check_triggers(structure, name, stage)?;
    }
    check_fan_out(structure)?;
    match cycle(structure) {
        Some(cycle) => Err(StructureError::Cycle(cycle)),
        None => Ok(()),
    }
}

/// What happens once starts a number of runs that one deployment can carry.
fn check_fan_out(structure: &Structure) -> Result<(), StructureError> {
    let sequences = structure.stages.values().flat_map(|stage| stage.sequences.values());
    let mut named: BTreeMap<&Event, usize> = BTreeMap::new();
    for event in sequences.flat_map(|it| &it.triggers).flat_map(Trigger::events) {
        *named.entry(event).or_default() += 1;
    }
    match named.into_values().any(|count| count > MAX_FAN_OUT) {
        true => {
            let what = "entries that one event triggers";
            Err(StructureError::TooMany { what, limit: MAX_FAN_OUT })
        }
        false => Ok(()),
    }
}

fn check_stage(name: &Name, stage: &Stage) -> Result<(), StructureError> {
    if stage.batch.as_ref().is_some_and(|batch| batch.capacity == 0) {
        return Err(StructureError::NoCapacity { stage: name.clone() });
    }
    if stage.sequences.len() > MAX_SEQUENCES {
        return Err(StructureError::TooMany { what: "sequences in a stage", limit: MAX_SEQUENCES });
    }
    for (group, definition) in &stage.groups {
        if !is_chain(&definition.chain) {
            let (stage, group) = (name.clone(), group.clone());
            return Err(StructureError::BadChain { stage, group, chain: definition.chain.clone() });
        }
        if definition.members.len() > MAX_MEMBERS {
            return Err(StructureError::TooMany { what: "members", limit: MAX_MEMBERS });
        }
    }
    stage
        .sequences
        .iter()
        .try_for_each(|(sequence, definition)| check_sequence((name, stage), sequence, definition))
}

/// Triggers and order do not mix: what is triggered neither waits for a stage nor lets one start.
fn check_triggers(structure: &Structure, name: &Name, stage: &Stage) -> Result<(), StructureError> {
    let triggered = |stage: &Stage| stage.entry == Entry::Triggered;
    let mut before = stage.after.iter().filter_map(|name| structure.stages.get(name));
    if triggered(stage) && !stage.after.is_empty() || before.any(|stage| triggered(stage)) {
        return Err(StructureError::OrderedAndTriggered(name.clone()));
    }
    for (sequence, definition) in &stage.sequences {
        let here = || (name.clone(), sequence.clone());
        if !triggered(stage) && !definition.triggers.is_empty() {
            let (stage, sequence) = here();
            return Err(StructureError::NotTriggered { stage, sequence });
        }
        if definition.triggers.len() > MAX_TRIGGERS {
            return Err(StructureError::TooMany { what: "triggers", limit: MAX_TRIGGERS });
        }
        for event in definition.triggers.iter().flat_map(Trigger::events) {
            let known = match event {
                Event::Domain(name) => !name.is_empty() && name.len() <= 200,
                Event::Finished { stage, sequence } => {
                    let named = structure.stages.get(stage).filter(|stage| triggered(stage));
                    named.is_some_and(|stage| stage.sequences.contains_key(sequence))
                }
            };
            if !known {
                let (stage, sequence) = here();
                let event = event.to_string().into();
                return Err(StructureError::UnknownTrigger { stage, sequence, event });
            }
        }
    }
    Ok(())
}

fn is_time(span: Span) -> bool {
    (Span(0)..=MAX_TIME).contains(&span)
}

fn check_task(task: &Task, (stage, sequence): (&Name, &Name)) -> Result<(), StructureError> {
    let times = [task.delay, task.timeout, Some(task.retries.backoff)];
    if !times.into_iter().flatten().all(is_time) {
        let (stage, sequence) = (stage.clone(), sequence.clone());
        return Err(StructureError::BadTime { stage, sequence });
    }
    if task.retries.limit > MAX_RETRIES {
        let limit = MAX_RETRIES as usize;
        return Err(StructureError::TooMany { what: "retries of a task", limit });
    }
    if task.properties.as_ref().is_some_and(|text| crate::flow::object(text).is_none()) {
        let (stage, sequence, task) = (stage.clone(), sequence.clone(), task.name.clone());
        return Err(StructureError::BadProperties { stage, sequence, task });
    }
    Ok(())
}

fn check_sequence(
    (name, stage): (&Name, &Stage),
    sequence: &Name,
    definition: &Sequence,
) -> Result<(), StructureError> {
    let here = || (name.clone(), sequence.clone());
    if definition.tasks.is_empty() {
        let (stage, sequence) = here();
        return Err(StructureError::NoTasks { stage, sequence });
    }
    if definition.timeout.is_some_and(|timeout| !is_time(timeout)) {
        let (stage, sequence) = here();
        return Err(StructureError::BadTime { stage, sequence });
    }
    if definition.tasks.len() > MAX_TASKS {
        return Err(StructureError::TooMany { what: "tasks", limit: MAX_TASKS });
    }
    let groups = definition.tasks.iter().flat_map(|task| &task.groups);
    let sizes = groups.filter_map(|group| stage.groups.get(group));
    let steps: usize = sizes.map(|group| group.members.len() * group.chain.len()).sum();
    if steps > MAX_STEPS {
        return Err(StructureError::TooMany { what: "steps in a sequence", limit: MAX_STEPS });
    }
    let mut ids: BTreeSet<&Name> =
        definition.tasks.iter().filter(|task| task.id.is_none()).map(|task| &task.name).collect();
    for task in &definition.tasks {
        check_task(task, (name, sequence))?;
        if let Some(id) = &task.id
            && !ids.insert(id)
        {
            let (stage, sequence) = here();
            return Err(StructureError::DuplicateId { stage, sequence, id: id.clone() });
        }
        let mut seen = BTreeSet::new();
        for group in &task.groups {
            if !stage.groups.contains_key(group) {
                let (stage, group) = (name.clone(), group.clone());
                return Err(StructureError::UnknownGroup { stage, group });
            }
            if !seen.insert(group) {
                let (stage, sequence) = here();
                let (task, group) = (task.name.clone(), group.clone());
                return Err(StructureError::DuplicateGroup { stage, sequence, task, group });
            }
        }
    }
    if let Some(range) = &definition.range {
        if range.first > range.last || range.last as usize >= definition.tasks.len() {
            let (stage, sequence) = here();
            return Err(StructureError::BadRange { stage, sequence });
        }
        if range.batch.capacity == 0 {
            return Err(StructureError::NoCapacity { stage: name.clone() });
        }
    }
    Ok(())
}

fn is_chain(chain: &[Kind]) -> bool {
    const INNER: [Kind; 3] = [Kind::ArtifactReplicated, Kind::MemberDeployed, Kind::MemberTested];
    match chain {
        [Kind::ArtifactRegistered] => true,
        [Kind::MemberStarted, inner @ .., Kind::MemberFinished] => {
            inner.is_sorted_by(|a, b| a < b) && inner.iter().all(|kind| INNER.contains(kind))
        }
        _ => false,
    }
}

/// A cycle among the stages, with its first stage repeated at the end.
fn cycle(structure: &Structure) -> Option<Vec<Name>> {
    let mut open: BTreeMap<&Name, usize> =
        structure.stages.iter().map(|(name, stage)| (name, stage.after.len())).collect();
    let followers = structure.followers();
    let mut clear: Vec<&Name> =
        open.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    while let Some(name) = clear.pop() {
        open.remove(name);
        for follower in followers.get(name).into_iter().flatten() {
            if let Some(count) = open.get_mut(follower) {
                *count -= 1;
                if *count == 0 {
                    clear.push(follower);
                }
            }
        }
    }
    let start = *open.keys().next()?;
    let mut trail = vec![start];
    loop {
        let last = *trail.last().expect("the trail begins with a stage");
        let back = structure.stages[last].after.iter().find(|name| open.contains_key(name))?;
        if let Some(at) = trail.iter().position(|name| *name == back) {
            let mut cycle: Vec<Name> = trail[at..].iter().rev().map(|&name| name.clone()).collect();
            cycle.push(cycle[0].clone());
            return Some(cycle);
        }
        trail.push(back);
    }
}

impl Structure {
    /// For every stage, the stages that come right after it.
    pub(crate) fn followers(&self) -> BTreeMap<&Name, Vec<&Name>> {
        let mut followers: BTreeMap<&Name, Vec<&Name>> = BTreeMap::new();
        for (name, stage) in &self.stages {
            for before in &stage.after {
                followers.entry(before).or_default().push(name);
            }
        }
        followers
    }
}

impl Policy {
    #[must_use]
    pub fn excludes(self) -> bool {
        !matches!(self, Self::Parallel)
    }
}
