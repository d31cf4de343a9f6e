use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_model::{FastMap, Name, Seq, TargetTable};

use super::deployment::Ghost;
use crate::structure::{self, Entry, Event, Sequence, Slot, Stage, Structure, Trigger};

/// The structure as it is now, with numbers for what has names.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) structure: Structure,
    /// Every sequence as it ever was: runs keep theirs by number.
    pub(crate) definitions: Vec<Arc<Sequence>>,
    /// Which definition a sequence has now.
    pub(crate) current: BTreeMap<(u32, u32), u32>,
    /// When a slot was introduced; slots that are not listed were always there.
    pub(crate) introduced: BTreeMap<Slot, Seq>,
    pub(crate) stages: Numbers,
    pub(crate) sequences: Numbers,
    /// Members of the groups in use, by stage and group.
    pub(crate) members: BTreeMap<u32, BTreeMap<Name, Arc<Members>>>,
    /// For every stage the stages right after it.
    pub(crate) followers: BTreeMap<u32, Vec<u32>>,
    /// Stages that left, as they were when they did: deployments that failed in one may come back.
    pub(crate) departed: BTreeMap<u32, Ghost>,
    /// The stages in an order in which each comes after its predecessors.
    pub(crate) order: Vec<u32>,
    /// For every event the triggers that name it: stage, sequence, position.
    pub(crate) triggers: BTreeMap<Event, Vec<(u32, u32, u32)>>,
    /// The triggers that are joins.
    pub(crate) joins: Vec<(u32, u32, u32)>,
    /// Since when a join is in the structure: what happened before does not count for it.
    pub(crate) join_since: BTreeMap<(u32, u32, Trigger), Seq>,
}

/// Numbers for names, in the order in which the project first knew them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    names: Vec<Name>,
    numbers: BTreeMap<Name, u32>,
}

/// The members of one group in order, with a way back from a name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    pub(crate) parts: Vec<u32>,
    positions: FastMap<u32, u32>,
}

impl Numbers {
    pub(crate) fn from_names(names: Vec<Name>) -> Self {
        let mut numbers = Self::default();
        names.iter().for_each(|name| {
            numbers.intern(name);
        });
        numbers
    }

    pub(crate) fn names(&self) -> &[Name] {
        &self.names
    }

    pub(crate) fn name(&self, number: u32) -> &Name {
        &self.names[number as usize]
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    fn intern(&mut self, name: &Name) -> u32 {
        let next = self.names.len() as u32;
        let names = &mut self.names;
        *self.numbers.entry(name.clone()).or_insert_with(|| {
            names.push(name.clone());
            next
        })
    }
}

impl Members {
    pub(crate) fn new<'a>(
        names: impl Iterator<Item = &'a Name>,
        targets: &mut TargetTable,
    ) -> Self {
        let parts: Vec<u32> = names.map(|name| targets.intern_part(name.as_str())).collect();
        let positions = parts.iter().zip(0..).map(|(&part, position)| (part, position)).collect();
        Self { parts, positions }
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    pub(crate) fn position(&self, part: u32) -> Option<u32> {
        self.positions.get(&part).copied()
    }
}

impl World {
    /// Takes over a checked structure. What is new in it counts as introduced at `seq`, unless it
    /// is the first structure of all.
    pub(crate) fn adopt(&mut self, structure: Structure, seq: Seq, targets: &mut TargetTable) {
        if !self.structure.stages.is_empty() {
            let fresh = structure::introduced(&self.structure, &structure);
            self.introduced.extend(fresh.into_iter().map(|slot| (slot, seq)));
        }
        let before = std::mem::replace(&mut self.structure, structure);
        let stages: Vec<(Name, Arc<Stage>)> = self
            .structure
            .stages
            .iter()
            .map(|(name, stage)| (name.clone(), stage.clone()))
            .collect();
        for (name, stage) in &stages {
            let number = self.stages.intern(name);
            let old = before.stages.get(name);
            if old.is_some_and(|old| Arc::ptr_eq(old, stage)) {
                continue;
            }
            self.adopt_stage(number, old.map(|old| &**old), stage, targets);
        }
        let kept = &self.structure.stages;
        let names = &self.stages;
        self.current.retain(|(stage, sequence), _| {
            let sequence = self.sequences.name(*sequence);
            kept.get(names.name(*stage)).is_some_and(|stage| stage.sequences.contains_key(sequence))
        });
        self.members.retain(|stage, members| {
            let stage = kept.get(names.name(*stage));
            members.retain(|group, _| stage.is_some_and(|stage| stage.groups.contains_key(group)));
            !members.is_empty()
        });
        self.index_followers();
        self.date_joins(seq);
    }

    fn date_joins(&mut self, seq: Seq) {
        let named = |entry: &(u32, u32, u32)| {
            self.trigger(*entry).map(|trigger| (entry.0, entry.1, trigger.clone()))
        };
        let now: BTreeSet<_> = self.joins.iter().filter_map(named).collect();
        self.join_since.retain(|join, _| now.contains(join));
        for join in now {
            self.join_since.entry(join).or_insert(seq);
        }
    }

    fn adopt_stage(
        &mut self,
        number: u32,
        old: Option<&Stage>,
        stage: &Stage,
        targets: &mut TargetTable,
    ) {
        for (name, definition) in &stage.sequences {
            let sequence = self.sequences.intern(name);
            let unchanged = old.and_then(|old| old.sequences.get(name)) == Some(definition);
            if !unchanged || !self.current.contains_key(&(number, sequence)) {
                self.current.insert((number, sequence), self.definitions.len() as u32);
                self.definitions.push(definition.clone());
            }
        }
        for (name, group) in &stage.groups {
            let same = old
                .and_then(|old| old.groups.get(name))
                .is_some_and(|old| Arc::ptr_eq(&old.members, &group.members));
            let members = self.members.entry(number).or_default();
            if !same || !members.contains_key(name) {
                let group = Members::new(group.members.iter(), targets);
                members.insert(name.clone(), Arc::new(group));
            }
        }
    }

    /// Works out everything that follows from the structure and the numbers.
    pub(crate) fn index(&mut self, targets: &mut TargetTable) {
        for (name, stage) in &self.structure.stages {
            let number = self.stages.intern(name);
            for (group, definition) in &stage.groups {
                let members = Members::new(definition.members.iter(), targets);
                let groups = self.members.entry(number).or_default();
                groups.insert(group.clone(), Arc::new(members));
            }
        }
        self.index_followers();
    }

    fn index_followers(&mut self) {
        let number = |name: &Name| self.stages.find(name.as_str()).expect("stages are numbered");
        let followers = self.structure.followers();
        let followers = followers.iter().map(|(before, after)| {
            (number(before), after.iter().map(|name| number(name)).collect())
        });
        self.followers = followers.collect();
        self.order = self.topological_order();
        self.index_triggers();
    }

    fn index_triggers(&mut self) {
        self.triggers.clear();
        self.joins.clear();
        for (&(stage, sequence), &definition) in &self.current {
            let triggers = &self.definitions[definition as usize].triggers;
            for (position, trigger) in (0..).zip(triggers) {
                for event in trigger.events() {
                    let known = self.triggers.entry(event.clone()).or_default();
                    known.push((stage, sequence, position));
                }
                if let structure::On::All(_) = trigger.on {
                    self.joins.push((stage, sequence, position));
                }
            }
        }
    }

    /// Whether a stage is entered by triggers, as it is now or as it was when it left.
    pub(crate) fn is_triggered(&self, number: u32) -> bool {
        let left = || self.departed.get(&number).map(|ghost| &ghost.stage);
        self.stage(number).or_else(left).is_some_and(|stage| stage.entry == Entry::Triggered)
    }

    /// An entry of the newest definition of a sequence.
    pub(crate) fn trigger(
        &self,
        (stage, sequence, position): (u32, u32, u32),
    ) -> Option<&structure::Trigger> {
        let definition = self.current.get(&(stage, sequence))?;
        self.definitions[*definition as usize].triggers.get(position as usize)
    }

    fn topological_order(&self) -> Vec<u32> {
        let mut open: BTreeMap<u32, usize> = BTreeMap::new();
        for (name, stage) in &self.structure.stages {
            let number = self.stages.find(name.as_str()).expect("stages are numbered");
            open.insert(number, stage.after.len());
        }
        let mut free: BTreeSet<u32> =
            open.iter().filter(|(_, count)| **count == 0).map(|(number, _)| *number).collect();
        let mut order = Vec::with_capacity(open.len());
        while let Some(number) = free.pop_first() {
            order.push(number);
            for follower in self.followers.get(&number).into_iter().flatten() {
                let count = open.get_mut(follower).expect("followers are stages");
                *count -= 1;
                if *count == 0 {
                    free.insert(*follower);
                }
            }
        }
        order
    }

    /// A stage as it is now.
    pub(crate) fn stage(&self, number: u32) -> Option<&Arc<Stage>> {
        self.structure.stages.get(self.stages.name(number))
    }
}
