use std::collections::BTreeSet;

use seaway_kernel::{Edit, Entry, Sequence, Stage, Structure, StructureChange, Task};
use seaway_model::{Kind, Name};

use super::dice::Dice;
use super::shape::{MEMBERS, STAGES, batch, name, stage, task};

/// A change that somebody makes to the structure while revisions are on their way. It need not be
/// valid: whoever gets it decides.
pub(super) fn change(dice: &mut Dice, structure: &Structure) -> Option<StructureChange> {
    type Change = fn(&mut Dice, &Structure) -> Option<Vec<Edit>>;
    let change: Change = dice.weighted(&[
        (12, add_stage as Change),
        (7, remove_stage),
        (22, add_members),
        (16, remove_members),
        (5, empty_group),
        (16, introduce_kind),
        (16, change_tasks),
        (10, change_batch),
        (6, add_sequence),
        (3, remove_sequence),
    ]);
    change(dice, structure).map(StructureChange)
}

fn any_stage<'a>(dice: &mut Dice, structure: &'a Structure) -> Option<(&'a Name, &'a Stage)> {
    let stages: Vec<_> = structure.stages.iter().collect();
    dice.pick(&stages).map(|(name, stage)| (*name, &***stage))
}

/// A new stage anywhere: at the start, between two others, at the end, or beside one.
fn add_stage(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    let fresh = STAGES.iter().find(|it| !structure.stages.contains_key(**it))?;
    if structure.stages.len() >= 4 {
        return None;
    }
    let mut after = BTreeSet::new();
    if dice.chance(75) {
        after.extend(any_stage(dice, structure).map(|(name, _)| name.clone()));
    }
    let mut edits = stage(dice, fresh, after.clone());
    if dice.chance(60) {
        for (follower, stage) in &structure.stages {
            if stage.after == after {
                let after = BTreeSet::from([name(fresh)]);
                let (stage, batch) = (follower.clone(), stage.batch.clone());
                edits.push(Edit::PutStage { stage, entry: Entry::Ordered, after, batch });
            }
        }
    }
    Some(edits)
}

fn remove_stage(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    if structure.stages.len() <= 2 {
        return None;
    }
    let (stage, _) = any_stage(dice, structure)?;
    Some(vec![Edit::RemoveStage { stage: stage.clone() }])
}

fn any_group<'a>(
    dice: &mut Dice,
    structure: &'a Structure,
) -> Option<(Name, Name, &'a seaway_kernel::Group)> {
    let (name, stage) = any_stage(dice, structure)?;
    let groups: Vec<_> = stage.groups.iter().collect();
    let (group, definition) = dice.pick(&groups)?;
    Some((name.clone(), (*group).clone(), definition))
}

fn add_members(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    let (stage, group, _) = any_group(dice, structure)?;
    let count = dice.count(1, 2);
    let members = (0..count).map(|_| name(MEMBERS[dice.below(MEMBERS.len())])).collect();
    Some(vec![Edit::AddMembers { stage, group, members }])
}

fn remove_members(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    let (stage, group, definition) = any_group(dice, structure)?;
    let members: Vec<Name> = definition.members.iter().cloned().collect();
    let member = dice.pick(&members)?.clone();
    Some(vec![Edit::RemoveMembers { stage, group, members: vec![member] }])
}

fn empty_group(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    let (stage, group, definition) = any_group(dice, structure)?;
    let members = definition.members.iter().cloned().collect();
    Some(vec![Edit::RemoveMembers { stage, group, members }])
}

/// A kind of step that the chain does not have joins it, in every stage or in one.
fn introduce_kind(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    const INNER: [Kind; 3] = [Kind::ArtifactReplicated, Kind::MemberDeployed, Kind::MemberTested];
    let kind = *dice.pick(&INNER)?;
    let everywhere = dice.chance(60);
    let (one, ..) = any_group(dice, structure)?;
    let mut edits = Vec::new();
    for (stage, definition) in &structure.stages {
        for (group, it) in &definition.groups {
            let fits = it.chain[0] == Kind::MemberStarted && !it.chain.contains(&kind);
            if fits && (everywhere || *stage == one) {
                let mut chain = it.chain.clone();
                chain.push(kind);
                chain.sort_unstable();
                let (stage, group) = (stage.clone(), group.clone());
                edits.push(Edit::PutGroup { stage, group, chain });
            } else if it.chain.contains(&kind) && dice.chance(20) {
                let chain = it.chain.iter().copied().filter(|it| *it != kind).collect();
                let (stage, group) = (stage.clone(), group.clone());
                edits.push(Edit::PutGroup { stage, group, chain });
            }
        }
    }
    Some(edits)
}

/// A task joins the list of a sequence, or leaves it.
fn change_tasks(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    let everywhere = dice.chance(50);
    let inserted = task(dice, 1, 0);
    let (one, _) = any_stage(dice, structure)?;
    let sequence = name("delivery");
    let mut edits = Vec::new();
    for (stage, definition) in &structure.stages {
        let Some(old) = definition.sequences.get(&sequence) else { continue };
        if *stage != *one && !everywhere {
            continue;
        }
        let definition = edit_tasks(dice, old, &inserted);
        edits.push(Edit::PutSequence {
            stage: stage.clone(),
            sequence: sequence.clone(),
            definition,
        });
    }
    Some(edits)
}

fn edit_tasks(dice: &mut Dice, old: &Sequence, inserted: &Task) -> Sequence {
    let mut tasks = old.tasks.clone();
    if tasks.len() > 1 && (tasks.len() > 4 || dice.chance(25)) {
        tasks.remove(dice.below(tasks.len()));
    } else {
        tasks.insert(dice.count(0, tasks.len()), inserted.clone());
    }
    let range = old.range.clone().map(|mut range| {
        range.last = range.last.min(tasks.len() as u32 - 1);
        range.first = range.first.min(range.last);
        range
    });
    Sequence { tasks, range, ..Sequence::default() }
}

fn change_batch(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    let (stage, definition) = any_stage(dice, structure)?;
    let (stage, after, batch) = (stage.clone(), definition.after.clone(), batch(dice, 70));
    Some(vec![Edit::PutStage { stage, entry: Entry::Ordered, after, batch }])
}

fn add_sequence(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    let (stage, _) = any_stage(dice, structure)?;
    let definition = Sequence { tasks: vec![task(dice, 1, 0)], range: None, ..Sequence::default() };
    Some(vec![Edit::PutSequence { stage: stage.clone(), sequence: name("audit"), definition }])
}

fn remove_sequence(dice: &mut Dice, structure: &Structure) -> Option<Vec<Edit>> {
    let (stage, _) = any_stage(dice, structure)?;
    Some(vec![Edit::RemoveSequence { stage: stage.clone(), sequence: name("audit") }])
}
