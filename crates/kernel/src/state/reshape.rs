use std::collections::BTreeMap;
use std::sync::Arc;

use seaway_model::{Kind, Name, Seq, TargetId, TargetTable, Timestamp};

use super::cell::Cell;
use super::deployment::{Deployment, StepKey};
use super::run::{Counts, Run};
use super::shape::{GroupShape, Role, Shape, TaskShape};
use super::spot::RunKey;
use super::world::{Members, World};
use crate::flow::Flow;
use crate::structure;

/// What a run's layout is made from.
struct Ground<'a> {
    stage: &'a structure::Stage,
    members: BTreeMap<&'a Name, &'a Arc<Members>>,
}

impl Deployment {
    fn ground<'a>(&'a self, world: &'a World, stage: u32) -> Option<Ground<'a>> {
        if let Some(definition) = world.stage(stage) {
            let members = world.members.get(&stage).into_iter().flatten().collect();
            return Some(Ground { stage: definition, members });
        }
        let ghost = self.ghosts.get(&stage).or_else(|| world.departed.get(&stage))?;
        Some(Ground { stage: &ghost.stage, members: ghost.members.iter().collect() })
    }

    /// Makes sure that the run exists, with the definition that its sequence has now.
    pub(crate) fn ensure_run(
        &mut self,
        world: &World,
        key: RunKey,
        seq: Seq,
        targets: &mut TargetTable,
    ) {
        if self.runs.contains_key(&key) {
            return;
        }
        let Some(&definition) = world.current.get(&(key.stage, key.sequence)) else { return };
        let stage = self.stages[&key.stage].target;
        let name = format!("{}#{}", world.sequences.name(key.sequence), key.number);
        let part = targets.intern_part(&name);
        let target = targets.intern(stage, part, seq);
        self.insert_run(key, target, definition);
        self.reshape(world, key, seq, targets);
    }

    /// Takes a run over that an earlier life of the deployment had.
    pub(crate) fn adopt_run(
        &mut self,
        world: &World,
        key: RunKey,
        target: TargetId,
        pinned: Option<u32>,
    ) {
        let current = world.current.get(&(key.stage, key.sequence)).copied();
        if let Some(definition) = pinned.or(current) {
            self.insert_run(key, target, definition);
            let run = self.runs.get_mut(&key).expect("it was just inserted");
            run.pinned = pinned.is_some();
        }
    }

    pub(crate) fn insert_run(&mut self, key: RunKey, target: TargetId, definition: u32) {
        let run = Run {
            key,
            target,
            definition,
            pinned: false,
            withdrawn: false,
            holds_service: false,
            holds_range: false,
            holder: target,
            inherited: Vec::new(),
            exempt: false,
            origin: None,
            since: self.started,
            flow: Flow::default(),
            moved: Timestamp::default(),
            begun: None,
            shape: Shape { tasks: Vec::new(), groups: Vec::new(), finish: 0 },
            cells: Vec::new(),
            counts: Counts::default(),
            exits: false,
        };
        self.runs.insert(key, run);
        self.derived.run_of.insert(target, key);
    }

    /// Lays a run out anew after its definition, its groups or their members changed. Steps keep
    /// what they are; those that are gone move to the attic, those that come back return from it.
    pub(crate) fn reshape(
        &mut self,
        world: &World,
        key: RunKey,
        seq: Seq,
        targets: &mut TargetTable,
    ) {
        let run = &self.runs[&key];
        let (target, definition) = (run.target, run.definition);
        let Some(ground) = self.ground(world, key.stage) else { return };
        let shape =
            lay_out(&world.definitions[definition as usize], &ground, target, (seq, targets));
        let run = self.runs.get_mut(&key).expect("the run was just looked at");
        let old = std::mem::replace(&mut run.shape, shape);
        let old_cells = std::mem::take(&mut run.cells);
        let mut moved = vec![false; old_cells.len()];
        let mut cells = vec![Cell::default(); run.shape.len()];
        carry(&old, &old_cells, &run.shape, &mut cells, &mut moved);
        for (cell, value) in old_cells.iter().enumerate() {
            if !moved[cell] && value.stored() != Cell::default() {
                let step = key_of(&old, target, cell as u32, (seq, targets));
                self.attic.insert(step, value.stored());
            }
        }
        if !self.attic.is_empty() {
            for (cell, value) in cells.iter_mut().enumerate() {
                if *value == Cell::default() {
                    let step = key_of(&run.shape, target, cell as u32, (seq, targets));
                    if let Some(kept) = self.attic.remove(&step) {
                        *value = kept;
                    }
                }
            }
        }
        run.cells = cells;
        run.recount();
    }
}

fn lay_out(
    definition: &structure::Sequence,
    ground: &Ground<'_>,
    run: TargetId,
    (seq, targets): (Seq, &mut TargetTable),
) -> Shape {
    let mut next = 2;
    let mut shape = Shape { tasks: Vec::new(), groups: Vec::new(), finish: 0 };
    for (task, part) in definition.tasks.iter().zip(definition.parts()) {
        let part = targets.intern_part(&part);
        let target = targets.intern(run, part, seq);
        let first = shape.groups.len();
        for name in &task.groups {
            let Some(group) = ground.stage.groups.get(name) else { continue };
            let members = (*ground.members[name]).clone();
            let part = targets.intern_part(name.as_str());
            let finish = next + 1 + (members.len() * group.chain.len()) as u32;
            shape.groups.push(GroupShape {
                target: targets.intern(target, part, seq),
                task: shape.tasks.len(),
                start: next,
                finish,
                chain: group.chain.as_slice().into(),
                targets: vec![TargetId(0); members.len()],
                members,
            });
            next = finish + 1;
        }
        shape.tasks.push(TaskShape { target, groups: first..shape.groups.len(), done: next });
        next += 1;
    }
    shape.finish = next;
    shape
}

/// Copies every cell of the old layout that the new one has too.
fn carry(old: &Shape, old_cells: &[Cell], new: &Shape, cells: &mut [Cell], moved: &mut [bool]) {
    if old_cells.is_empty() {
        return;
    }
    let mut copy = |from: u32, to: u32| {
        cells[to as usize] = old_cells[from as usize];
        moved[from as usize] = true;
    };
    copy(Shape::TRIGGERED, Shape::TRIGGERED);
    copy(Shape::STARTED, Shape::STARTED);
    copy(old.finish, new.finish);
    for task in &new.tasks {
        if let Some(before) = old.tasks.iter().find(|before| before.target == task.target) {
            copy(before.done, task.done);
        }
    }
    for group in &new.groups {
        let Some(before) = old.groups.iter().find(|before| before.target == group.target) else {
            continue;
        };
        copy(before.start, group.start);
        copy(before.finish, group.finish);
        let links: Vec<(u32, u32)> = (0..)
            .zip(group.chain.iter())
            .filter_map(|(to, kind)| {
                let from = before.chain.iter().position(|it| it == kind)?;
                Some((from as u32, to))
            })
            .collect();
        for (member, &part) in (0..).zip(&group.members.parts) {
            let Some(position) = before.members.position(part) else { continue };
            links.iter().for_each(|&(from, to)| {
                copy(before.cell(position, from), group.cell(member, to));
            });
        }
    }
}

/// The step of a cell, by target and kind; a member that was never named is named now.
pub(crate) fn key_of(
    shape: &Shape,
    run: TargetId,
    cell: u32,
    (seq, targets): (Seq, &mut TargetTable),
) -> StepKey {
    known_key_of(shape, run, cell, targets)
        .unwrap_or_else(|(group, part, kind)| (targets.intern(group, part, seq), kind))
}

/// The step of a cell, or what it takes to name it: its group, its member and its kind.
pub(crate) fn known_key_of(
    shape: &Shape,
    run: TargetId,
    cell: u32,
    targets: &TargetTable,
) -> Result<StepKey, (TargetId, u32, Kind)> {
    let role = shape.role(cell);
    let kind: Kind = shape.kind(role);
    let target = match role {
        Role::Triggered | Role::Started | Role::Finished => run,
        Role::TaskDone { task } => shape.tasks[task].target,
        Role::GroupStarted { group } | Role::GroupFinished { group } => shape.groups[group].target,
        Role::Link { group, member, .. } => {
            let group = &shape.groups[group];
            match group.targets[member as usize] {
                TargetId(0) => {
                    let part = group.members.parts[member as usize];
                    targets.child(group.target, part).ok_or((group.target, part, kind))?
                }
                known => known,
            }
        }
    };
    Ok((target, kind))
}
