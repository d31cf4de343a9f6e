use std::rc::Rc;

use seaway_model::{ExecutorName, FastMap, Level, Name, TargetDef, TargetId, TargetTable};

use super::violation::{Rule, Violation};

/// A target's path, taken apart. Parts below its level are absent.
#[derive(Clone, Debug, Default)]
pub(super) struct Spot {
    pub(super) stage: Option<Name>,
    pub(super) stage_target: TargetId,
    pub(super) sequence: Option<Name>,
    pub(super) run: TargetId,
    /// Its last part, which numbers tasks of one name.
    pub(super) task: Option<Box<str>>,
    pub(super) group: Option<Name>,
    pub(super) group_target: TargetId,
    pub(super) member: Option<Name>,
}

/// The paths that a log was written with.
#[derive(Debug)]
pub(super) struct Paths {
    pub(super) table: TargetTable,
    spots: FastMap<TargetId, Rc<Spot>>,
}

impl Paths {
    pub(super) fn new(project: &Name) -> Self {
        Self { table: TargetTable::new(project.as_str()), spots: FastMap::default() }
    }

    pub(super) fn define(&mut self, def: &TargetDef) -> Result<(), Violation> {
        let broken = |error| Violation::new(Rule::Chain, format!("{error}"));
        self.table.define(def).map_err(broken)
    }

    pub(super) fn text(&self, target: TargetId) -> String {
        self.table.path(target).to_string()
    }

    /// The name of the stage that a target lies in.
    pub(super) fn stage_name(&self, mut target: TargetId) -> Option<Name> {
        while target != TargetTable::ROOT {
            let node = self.table.get(target);
            if node.level == Level::Stage {
                return Name::new(self.table.part(node.part)).ok();
            }
            target = node.parent;
        }
        None
    }

    pub(super) fn child(&self, parent: TargetId, part: &str) -> Option<TargetId> {
        self.table.child(parent, self.table.find_part(part)?)
    }

    /// The task that a target is one executor's share of, and whose.
    pub(super) fn share(&self, target: TargetId) -> Option<(TargetId, ExecutorName)> {
        let node = self.table.try_get(target).filter(|node| node.level == Level::Executor)?;
        let who = self.table.part(node.part).trim_start_matches('@');
        Some((node.parent, ExecutorName(who.into())))
    }

    /// The run that a target is, or lies in.
    pub(super) fn run_above(&self, mut target: TargetId) -> Option<TargetId> {
        while target != TargetTable::ROOT {
            let node = self.table.get(target);
            if node.level == Level::Run {
                return Some(target);
            }
            target = node.parent;
        }
        None
    }

    pub(super) fn spot(&mut self, target: TargetId) -> Rc<Spot> {
        if let Some(spot) = self.spots.get(&target) {
            return spot.clone();
        }
        let mut spot = Spot::default();
        let mut id = target;
        while id != TargetTable::ROOT {
            let node = self.table.get(id);
            let part = self.table.part(node.part);
            let name = |text: &str| Name::new(text).ok();
            match node.level {
                Level::Stage => (spot.stage, spot.stage_target) = (name(part), id),
                Level::Run => {
                    let sequence = part.split_once('#').map_or(part, |(sequence, _)| sequence);
                    (spot.sequence, spot.run) = (name(sequence), id);
                }
                Level::Task => spot.task = Some(part.into()),
                Level::Group => (spot.group, spot.group_target) = (name(part), id),
                Level::Member => spot.member = name(part),
                Level::Project | Level::Executor => {}
            }
            id = node.parent;
        }
        let spot = Rc::new(spot);
        self.spots.insert(target, spot.clone());
        spot
    }
}
