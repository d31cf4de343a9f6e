use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{FastMap, Seq, TargetId};

/// What a part of a target path names. A path reads
/// `project/stage/sequence#run/task/group/member`, and `@executor` may follow a task or a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    Project,
    Stage,
    Run,
    Task,
    Group,
    Member,
    Executor,
}

/// One interned path: its parent and its last part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    pub parent: TargetId,
    /// The last part, as a number of the table's own vocabulary: see [`TargetTable::part`].
    pub part: u32,
    /// The first target with the same path when run numbers are left out.
    pub place: TargetId,
    pub level: Level,
}

/// A target as it is handed to the store, and back: ids are dense and in order of definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetDef {
    pub id: TargetId,
    pub parent: TargetId,
    pub part: Box<str>,
    pub place: TargetId,
    /// The record in whose append the target was first used.
    pub since: Seq,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("target {found} is defined out of order; {expected} was expected")]
    OutOfOrder { found: TargetId, expected: TargetId },
    #[error("target {0} names a parent that is not defined")]
    UnknownParent(TargetId),
    #[error("target {0} lies deeper than a member's executor")]
    TooDeep(TargetId),
}

/// The paths of one project, interned as a tree. Paths are vocabulary, not state: a path that was
/// defined by an append that did not become durable does no harm.
#[derive(Clone, Debug)]
pub struct TargetTable {
    nodes: Vec<Target>,
    since: Vec<Seq>,
    children: FastMap<(TargetId, u32), TargetId>,
    places: FastMap<(TargetId, u32), TargetId>,
    parts: Parts,
}

/// The vocabulary of path parts: one long text and where each part ends in it.
#[derive(Clone, Debug, Default)]
struct Parts {
    text: String,
    ends: Vec<u32>,
    index: hashbrown::HashTable<u32>,
}

impl Parts {
    fn get(&self, part: u32) -> &str {
        let part = part as usize;
        let start = if part == 0 { 0 } else { self.ends[part - 1] as usize };
        &self.text[start..self.ends[part] as usize]
    }

    fn hash(text: &str) -> u64 {
        use std::hash::BuildHasher;
        rustc_hash::FxBuildHasher.hash_one(text)
    }

    fn find(&self, text: &str) -> Option<u32> {
        self.index.find(Self::hash(text), |&part| self.get(part) == text).copied()
    }

    fn intern(&mut self, text: &str) -> u32 {
        if let Some(part) = self.find(text) {
            return part;
        }
        let part = u32::try_from(self.ends.len()).expect("fewer than 2^32 names in one project");
        self.text.push_str(text);
        let end = u32::try_from(self.text.len()).expect("names of one project stay below 4 GiB");
        self.ends.push(end);
        let Self { text: all, ends, index } = self;
        let rehash = |&part: &u32| {
            let part = part as usize;
            let start = if part == 0 { 0 } else { ends[part - 1] as usize };
            Self::hash(&all[start..ends[part] as usize])
        };
        index.insert_unique(Self::hash(text), part, rehash);
        part
    }
}

impl TargetTable {
    /// The whole pipeline of a project.
    pub const ROOT: TargetId = TargetId(0);

    #[must_use]
    pub fn new(project: &str) -> Self {
        let mut parts = Parts::default();
        let part = parts.intern(project);
        let root = Target { parent: Self::ROOT, part, place: Self::ROOT, level: Level::Project };
        Self {
            nodes: vec![root],
            since: vec![Seq(0)],
            children: FastMap::default(),
            places: FastMap::default(),
            parts,
        }
    }

    #[must_use]
    pub fn get(&self, id: TargetId) -> Target {
        self.nodes[id.0 as usize]
    }

    #[must_use]
    pub fn try_get(&self, id: TargetId) -> Option<Target> {
        self.nodes.get(id.0 as usize).copied()
    }

    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "the project itself is always there")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    #[must_use]
    pub fn part(&self, part: u32) -> &str {
        self.parts.get(part)
    }

    /// The number of a word in the vocabulary of this table, which it joins if it is new.
    pub fn intern_part(&mut self, text: &str) -> u32 {
        self.parts.intern(text)
    }

    #[must_use]
    pub fn find_part(&self, text: &str) -> Option<u32> {
        self.parts.find(text)
    }

    #[must_use]
    pub fn child(&self, parent: TargetId, part: u32) -> Option<TargetId> {
        self.children.get(&(parent, part)).copied()
    }

    /// Makes room for so many more paths at once.
    pub fn reserve(&mut self, more: usize) {
        self.nodes.reserve(more);
        self.since.reserve(more);
        self.children.reserve(more);
        self.places.reserve(more);
    }

    /// The path below `parent` that ends in `part`, defined now if it is new.
    pub fn intern(&mut self, parent: TargetId, part: u32, since: Seq) -> TargetId {
        if let Some(&id) = self.children.get(&(parent, part)) {
            return id;
        }
        let id = TargetId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 targets"));
        let above = self.get(parent);
        let level = if self.parts.get(part).starts_with('@') {
            Level::Executor
        } else {
            match above.level {
                Level::Project => Level::Stage,
                Level::Stage => Level::Run,
                Level::Run => Level::Task,
                Level::Task => Level::Group,
                Level::Group => Level::Member,
                Level::Member | Level::Executor => Level::Executor,
            }
        };
        let runless = match (level, self.parts.get(part).split_once('#')) {
            (Level::Run, Some((sequence, _))) => {
                let sequence = sequence.to_owned();
                self.parts.intern(&sequence)
            }
            _ => part,
        };
        let place = *self.places.entry((above.place, runless)).or_insert(id);
        self.nodes.push(Target { parent, part, place, level });
        self.since.push(since);
        self.children.insert((parent, part), id);
        id
    }

    /// Takes over a definition that the store kept.
    pub fn define(&mut self, def: &TargetDef) -> Result<(), TargetError> {
        let expected = TargetId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 targets"));
        if def.id == Self::ROOT || def.id < expected {
            return Ok(());
        }
        if def.id != expected {
            return Err(TargetError::OutOfOrder { found: def.id, expected });
        }
        let above = self.try_get(def.parent).ok_or(TargetError::UnknownParent(def.id))?;
        if above.level == Level::Executor {
            return Err(TargetError::TooDeep(def.id));
        }
        let part = self.parts.intern(&def.part);
        self.intern(def.parent, part, def.since);
        Ok(())
    }

    /// The definitions from number `from` on, for the store.
    pub fn defined_from(&self, from: usize) -> impl Iterator<Item = TargetDef> + '_ {
        self.nodes.iter().enumerate().skip(from).map(|(number, node)| TargetDef {
            id: TargetId(number as u32),
            parent: node.parent,
            part: self.parts.get(node.part).into(),
            place: node.place,
            since: self.since[number],
        })
    }

    /// The target with this path, if it was ever used.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<TargetId> {
        // The name of an executor is last and may have slashes itself.
        let (path, executor) = path.split_at(path.find('@').unwrap_or(path.len()));
        let mut parts = path.split('/');
        if parts.next()? != self.parts.get(self.nodes[0].part) {
            return None;
        }
        let mut id = Self::ROOT;
        for text in parts {
            id = self.child(id, self.parts.find(text)?)?;
        }
        if !executor.is_empty() {
            id = self.child(id, self.parts.find(executor)?)?;
        }
        Some(id)
    }

    /// The path of a target, as people read it.
    #[must_use]
    pub fn path(&self, id: TargetId) -> TargetPath<'_> {
        TargetPath { table: self, id }
    }
}

/// Shows a target's path without building a string.
#[derive(Clone, Copy, Debug)]
pub struct TargetPath<'a> {
    table: &'a TargetTable,
    id: TargetId,
}

impl fmt::Display for TargetPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chain = [TargetTable::ROOT; 8];
        let mut depth = 0;
        let mut id = self.id;
        while id != TargetTable::ROOT {
            chain[depth] = id;
            depth += 1;
            id = self.table.get(id).parent;
        }
        f.write_str(self.table.part(self.table.nodes[0].part))?;
        for &id in chain[..depth].iter().rev() {
            let node = self.table.get(id);
            if node.level != Level::Executor {
                f.write_str("/")?;
            }
            f.write_str(self.table.part(node.part))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_again_and_its_place_has_no_run_number() {
        let mut table = TargetTable::new("shop");
        let mut ids = Vec::new();
        for run in ["delivery#1", "delivery#2"] {
            let mut id = TargetTable::ROOT;
            for part in ["beta", run, "deployment", "eu", "host-7", "@agent"] {
                let part = table.intern_part(part);
                id = table.intern(id, part, Seq(1));
            }
            ids.push(id);
        }
        let path = table.path(ids[1]).to_string();
        assert_eq!(path, "shop/beta/delivery#2/deployment/eu/host-7@agent");
        assert_eq!(table.find(&path), Some(ids[1]));
        assert_eq!(table.get(ids[1]).place, ids[0]);
        assert_eq!(table.get(ids[1]).level, Level::Executor);
        assert_eq!(table.find("shop/beta/nothing"), None);

        let mut copy = TargetTable::new("shop");
        for def in table.defined_from(1) {
            copy.define(&def).expect("definitions come in order");
        }
        assert!(copy.defined_from(0).eq(table.defined_from(0)));
    }
}
