use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_model::{Kind, Name};

use super::check::{StructureError, check};
use super::types::{Edit, Group, Sequence, Slot, Stage, Structure, StructureChange, Task};

impl StructureChange {
    /// The structure after this change.
    pub fn apply_to(&self, structure: &Structure) -> Result<Structure, StructureError> {
        if self.0.is_empty() {
            return Err(StructureError::Empty);
        }
        let mut changed = structure.clone();
        self.0.iter().try_for_each(|edit| changed.edit(edit))?;
        check(&changed)?;
        Ok(changed)
    }
}

impl Structure {
    fn edit(&mut self, edit: &Edit) -> Result<(), StructureError> {
        match edit {
            Edit::PutStage { stage, entry, after, batch } => {
                let found = Arc::make_mut(self.stages.entry(stage.clone()).or_default());
                found.entry = *entry;
                found.after.clone_from(after);
                found.batch.clone_from(batch);
            }
            Edit::RemoveStage { stage } => self.remove_stage(stage)?,
            Edit::PutSequence { stage, sequence, definition } => {
                let sequences = &mut self.stage_mut(stage)?.sequences;
                sequences.insert(sequence.clone(), Arc::new(definition.clone()));
            }
            Edit::RemoveSequence { stage, sequence } => {
                if self.stage_mut(stage)?.sequences.remove(sequence).is_none() {
                    let (stage, sequence) = (stage.clone(), sequence.clone());
                    return Err(StructureError::UnknownSequence { stage, sequence });
                }
            }
            Edit::PutGroup { stage, group, chain } => {
                let groups = &mut self.stage_mut(stage)?.groups;
                let members = groups.get(group).map(|old| old.members.clone()).unwrap_or_default();
                groups.insert(group.clone(), Arc::new(Group { chain: chain.clone(), members }));
            }
            Edit::RemoveGroup { stage, group } => {
                if self.stage_mut(stage)?.groups.remove(group).is_none() {
                    let (stage, group) = (stage.clone(), group.clone());
                    return Err(StructureError::UnknownGroup { stage, group });
                }
            }
            Edit::AddMembers { stage, group, members } => {
                self.members_mut(stage, group)?.extend(members.iter().cloned());
            }
            Edit::RemoveMembers { stage, group, members } => {
                let present = self.members_mut(stage, group)?;
                members.iter().for_each(|member| {
                    present.remove(member);
                });
            }
        }
        Ok(())
    }

    fn remove_stage(&mut self, name: &Name) -> Result<(), StructureError> {
        let removed = self.stages.remove(name);
        let removed = removed.ok_or_else(|| StructureError::UnknownStage(name.clone()))?;
        for stage in self.stages.values_mut() {
            if stage.after.contains(name) {
                let stage = Arc::make_mut(stage);
                stage.after.remove(name);
                stage.after.extend(removed.after.iter().cloned());
            }
        }
        Ok(())
    }

    fn stage_mut(&mut self, name: &Name) -> Result<&mut Stage, StructureError> {
        let stage = self.stages.get_mut(name);
        stage.map(Arc::make_mut).ok_or_else(|| StructureError::UnknownStage(name.clone()))
    }

    fn members_mut(
        &mut self,
        stage: &Name,
        group: &Name,
    ) -> Result<&mut BTreeSet<Name>, StructureError> {
        let found = self.stage_mut(stage)?.groups.get_mut(group);
        let found = found.ok_or_else(|| StructureError::UnknownGroup {
            stage: stage.clone(),
            group: group.clone(),
        })?;
        Ok(Arc::make_mut(&mut Arc::make_mut(found).members))
    }

    /// Every slot that exists somewhere in the structure.
    #[must_use]
    pub fn slots(&self) -> BTreeSet<Slot> {
        let mut slots = BTreeSet::new();
        for stage in self.stages.values() {
            let chains = stage.groups.values().flat_map(|group| &group.chain);
            slots.extend(chains.map(|&kind| Slot::Kind(kind)));
            if !stage.groups.is_empty() {
                slots.extend([Kind::GroupStarted, Kind::GroupFinished].map(Slot::Kind));
            }
            for (name, sequence) in &stage.sequences {
                slots.extend(sequence.slots(name));
            }
        }
        slots
    }
}

impl Sequence {
    /// The slot of every task, in their order.
    #[must_use]
    pub fn slots(&self, name: &Name) -> Vec<Slot> {
        (0..self.tasks.len()).map(|task| self.slot(name, task)).collect()
    }

    /// The slot of one task.
    pub(crate) fn slot(&self, name: &Name, task: usize) -> Slot {
        let (before, it) = (&self.tasks[..task], &self.tasks[task]);
        match &it.id {
            Some(id) => Slot::Task(name.clone(), id.clone(), 0),
            None => {
                let occurrence = before.iter().filter(|task| task.name == it.name).count();
                Slot::Task(name.clone(), it.name.clone(), occurrence as u32)
            }
        }
    }

    /// For every task, how many tasks of the same name stand before it.
    fn occurrences(&self) -> Vec<u32> {
        let mut seen: BTreeMap<&Name, u32> = BTreeMap::new();
        let mut count = |task| {
            let next = seen.entry(task).or_default();
            *next += 1;
            *next - 1
        };
        self.tasks.iter().map(|task| count(&task.name)).collect()
    }

    /// The last part of every task's target path: its name, numbered from the second of that name.
    #[must_use]
    pub fn parts(&self) -> Vec<String> {
        let part = |(task, occurrence): (&Task, u32)| match occurrence {
            0 => task.name.to_string(),
            n => format!("{}:{}", task.name, n + 1),
        };
        self.tasks.iter().zip(self.occurrences()).map(part).collect()
    }
}
