use std::collections::BTreeSet;

use seaway_model::Name;

use super::types::{Edit, Stage, Structure, StructureChange};

impl StructureChange {
    /// The edits that turn one structure into another; none if they are the same.
    ///
    /// Stages are put twice: first without order, so that what is removed is not waited for.
    #[must_use]
    pub fn between(old: &Structure, new: &Structure) -> Option<Self> {
        let mut edits = Vec::new();
        for name in old.stages.keys().filter(|name| !new.stages.contains_key(*name)) {
            edits.push(Edit::RemoveStage { stage: name.clone() });
        }
        let mut late = Vec::new();
        for (name, stage) in &new.stages {
            let before = old.stages.get(name);
            if before.is_some_and(|before| before == stage) {
                continue;
            }
            let default = Stage::default();
            let before = before.map_or(&default, |before| before);
            let fresh = !old.stages.contains_key(name);
            let same = (before.entry, &before.batch) == (stage.entry, &stage.batch);
            let after = settled_order(old, new, name);
            if fresh || !same || after != stage.after {
                let put = |after| {
                    let batch = stage.batch.clone();
                    Edit::PutStage { stage: name.clone(), entry: stage.entry, after, batch }
                };
                edits.push(put(BTreeSet::new()));
                if !stage.after.is_empty() {
                    late.push(put(stage.after.clone()));
                }
            }
            inside(name, before, stage, &mut edits);
        }
        edits.extend(late);
        (!edits.is_empty()).then_some(Self(edits))
    }
}

/// What a stage comes after once the stages that leave are gone.
fn settled_order(old: &Structure, new: &Structure, name: &Name) -> BTreeSet<Name> {
    let mut after = old.stages.get(name).map(|stage| stage.after.clone()).unwrap_or_default();
    while let Some(gone) = after.iter().find(|name| !new.stages.contains_key(*name)).cloned() {
        after.remove(&gone);
        after.extend(old.stages[&gone].after.iter().cloned());
    }
    after
}

fn inside(name: &Name, before: &Stage, stage: &Stage, edits: &mut Vec<Edit>) {
    let at = || name.clone();
    for (group, definition) in &stage.groups {
        let known = before.groups.get(group);
        if known.is_none_or(|known| known.chain != definition.chain) {
            let (group, chain) = (group.clone(), definition.chain.clone());
            edits.push(Edit::PutGroup { stage: at(), group, chain });
        }
        let members = known.map(|known| known.members.clone()).unwrap_or_default();
        let added: Vec<Name> = definition.members.difference(&members).cloned().collect();
        let gone: Vec<Name> = members.difference(&definition.members).cloned().collect();
        if !added.is_empty() {
            edits.push(Edit::AddMembers { stage: at(), group: group.clone(), members: added });
        }
        if !gone.is_empty() {
            edits.push(Edit::RemoveMembers { stage: at(), group: group.clone(), members: gone });
        }
    }
    for (sequence, definition) in &stage.sequences {
        if before.sequences.get(sequence) != Some(definition) {
            let (sequence, definition) = (sequence.clone(), (**definition).clone());
            edits.push(Edit::PutSequence { stage: at(), sequence, definition });
        }
    }
    for sequence in before.sequences.keys().filter(|it| !stage.sequences.contains_key(*it)) {
        edits.push(Edit::RemoveSequence { stage: at(), sequence: sequence.clone() });
    }
    for group in before.groups.keys().filter(|it| !stage.groups.contains_key(*it)) {
        edits.push(Edit::RemoveGroup { stage: at(), group: group.clone() });
    }
}
