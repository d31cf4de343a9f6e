use std::collections::BTreeSet;

use seaway_kernel::{Batch, Edit, Entry, Policy, Range, Sequence, Task, When};
use seaway_model::{Kind, Name};

use super::dice::Dice;

pub(super) const STAGES: [&str; 6] = ["alpha", "beta", "gamma", "delta", "omega", "zeta"];
pub(super) const GROUPS: [&str; 2] = ["eu", "us"];
pub(super) const MEMBERS: [&str; 5] = ["host-1", "host-2", "host-3", "host-4", "host-5"];
pub(super) const TASKS: [&str; 5] = ["deploy", "check", "bake", "notify", "approve"];
pub(super) const SERVICES: [&str; 2] = ["web", "api"];

pub(super) fn name(text: &str) -> Name {
    Name::new(text).expect("the simulator's names are valid")
}

/// The pipeline that a world begins with.
pub(super) fn first_structure(dice: &mut Dice) -> Vec<Edit> {
    let count = dice.count(2, 3);
    let mut edits = Vec::new();
    for (number, fresh) in STAGES.iter().enumerate().take(count) {
        let mut after = BTreeSet::new();
        if number > 0 {
            // Mostly a line, sometimes a diamond.
            let before = if dice.chance(75) { number - 1 } else { dice.below(number) };
            after.insert(name(STAGES[before]));
        }
        edits.extend(stage(dice, fresh, after));
    }
    edits
}

/// A stage with its groups and sequences.
pub(super) fn stage(dice: &mut Dice, stage: &str, after: BTreeSet<Name>) -> Vec<Edit> {
    let stage = name(stage);
    let batch = batch(dice, 45);
    let mut edits =
        vec![Edit::PutStage { stage: stage.clone(), entry: Entry::Ordered, after, batch }];
    let groups = dice.count(1, 2);
    for group in GROUPS.iter().take(groups) {
        let chain = chain(dice);
        let group = name(group);
        edits.push(Edit::PutGroup { stage: stage.clone(), group: group.clone(), chain });
        let count = dice.count(1, 3);
        let members = (0..count).map(|_| name(MEMBERS[dice.below(MEMBERS.len())])).collect();
        edits.push(Edit::AddMembers { stage: stage.clone(), group, members });
    }
    let sequences: &[&str] = if dice.chance(25) { &["delivery", "audit"] } else { &["delivery"] };
    for sequence in sequences {
        let (sequence, definition) = (name(sequence), sequence_of(dice, groups));
        edits.push(Edit::PutSequence { stage: stage.clone(), sequence, definition });
    }
    edits
}

pub(super) fn chain(dice: &mut Dice) -> Vec<Kind> {
    if dice.chance(10) {
        return vec![Kind::ArtifactRegistered];
    }
    let mut chain = vec![Kind::MemberStarted];
    let inner =
        [(25, Kind::ArtifactReplicated), (90, Kind::MemberDeployed), (45, Kind::MemberTested)];
    chain.extend(inner.iter().filter(|(percent, _)| dice.chance(*percent)).map(|(_, kind)| *kind));
    chain.push(Kind::MemberFinished);
    chain
}

fn sequence_of(dice: &mut Dice, groups: usize) -> Sequence {
    let count = dice.count(1, 3);
    let tasks: Vec<Task> = (0..count).map(|number| task(dice, number, groups)).collect();
    let range = dice.chance(30).then(|| {
        let first = dice.below(count);
        let last = dice.count(first, count - 1);
        let batch = batch(dice, 100).expect("it was asked for one");
        Range { first: first as u32, last: last as u32, batch }
    });
    Sequence { tasks, range, ..Sequence::default() }
}

/// A task of the given position; the first one mostly goes over the groups.
pub(super) fn task(dice: &mut Dice, number: usize, groups: usize) -> Task {
    let over_groups = dice.chance(if number == 0 { 70 } else { 25 });
    let groups =
        if over_groups { GROUPS[..groups].iter().map(|it| name(it)).collect() } else { vec![] };
    let when = match number {
        0 => When::Succeeded,
        _ => dice.weighted(&[(75, When::Succeeded), (10, When::Failed), (15, When::Always)]),
    };
    let task = TASKS[if number == 0 { 0 } else { dice.below(TASKS.len()) }];
    Task { when, groups, ..Task::new(name(task)) }
}

pub(super) fn batch(dice: &mut Dice, percent: u32) -> Option<Batch> {
    dice.chance(percent).then(|| {
        let supersede = Policy::Supersede { max_replaced: dice.count(1, 10) as u32 };
        let policy = dice.weighted(&[(45, Policy::Queue), (45, supersede), (10, Policy::Parallel)]);
        Batch { capacity: dice.count(1, 2) as u32, policy }
    })
}
