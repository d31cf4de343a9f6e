use std::collections::{BTreeMap, BTreeSet};

use super::cell::Cell;
use super::deployment::Deployment;
use super::run::Run;
use super::spot::RunKey;
use super::world::World;
use crate::structure::Slot;

impl Deployment {
    /// Works out which steps have something finished after them. Between structural changes and
    /// retries this does not change for any step that still waits.
    pub(crate) fn mark_overtaken(&mut self, world: &World) {
        self.derived.overtaken.clear();
        let begun: BTreeSet<u32> = self
            .stages
            .iter()
            .filter(|(number, stage)| {
                let cells = self.runs_in(**number).flat_map(|run| &run.cells);
                [stage.started, stage.finish].iter().chain(cells).any(|cell| cell.is_finished())
            })
            .map(|(number, _)| *number)
            .collect();
        let order: Vec<u32> =
            self.ghosts.keys().copied().chain(world.order.iter().copied()).collect();
        for &stage in order.iter().rev() {
            let overtaken = self
                .followers(world, stage)
                .iter()
                .any(|after| begun.contains(after) || self.derived.overtaken.contains(after));
            if overtaken {
                self.derived.overtaken.insert(stage);
            }
        }
        let stages: Vec<u32> = self.stages.keys().copied().collect();
        stages.into_iter().for_each(|stage| self.mark_stage(stage));
    }

    /// The same for the steps of one stage.
    pub(crate) fn mark_stage(&mut self, number: u32) {
        let beyond = self.derived.overtaken.contains(&number);
        let Some(stage) = self.stages.get_mut(&number) else { return };
        stage.finish.set_overtaken(beyond);
        let after_runs = beyond || stage.finish.is_over();
        let triggered = stage.triggered;
        let keys: Vec<RunKey> = self.runs_in(number).map(|run| run.key).collect();
        let mut inside = after_runs;
        for key in keys {
            let run = self.runs.get_mut(&key).expect("the key is from the map");
            let (begun, any) = run.mark_overtaken(after_runs);
            // What triggers a run is not a step of its stage: it comes before the stage starts.
            inside |= if triggered { begun } else { any };
            run.recount();
        }
        let stage = self.stages.get_mut(&number).expect("the stage was just changed");
        stage.started.set_overtaken(inside);
    }

    /// Finds out, for every slot younger than the deployment, whether it passed a place that would
    /// have needed it.
    pub(crate) fn mark_late(&mut self, world: &World) {
        let younger = world.introduced.iter().filter(|(_, seq)| **seq > self.started);
        let mut late: BTreeMap<Slot, bool> =
            younger.map(|(slot, _)| (slot.clone(), false)).collect();
        if !late.is_empty() {
            let exists = |run: &&Run| {
                let stage = run.key.stage;
                let there = world.stage(stage).is_some() || self.ghosts.contains_key(&stage);
                there && !run.withdrawn
            };
            for run in self.runs.values().filter(exists) {
                for cell in 0..run.shape.len() as u32 {
                    if !run.cell(cell).was_left_out() {
                        continue;
                    }
                    let Some(slot) = self.slot_of(world, run, cell) else { continue };
                    if let Some(passed) = late.get_mut(&slot)
                        && !*passed
                    {
                        *passed = run.any_next_complete(cell);
                    }
                }
            }
        }
        for (slot, passed) in late.iter_mut().filter(|(_, passed)| !**passed) {
            *passed = self.runs.values().any(|run| self.has_passed(world, run, slot));
        }
        self.derived.late = late;
    }

    /// Whether a run that keeps an older definition went past where the newest has a slot: it
    /// completed what now comes right after it.
    fn has_passed(&self, world: &World, run: &Run, slot: &Slot) -> bool {
        let Slot::Task(name, ..) = slot else { return false };
        let sequence = world.sequences.name(run.key.sequence);
        let now = world.current.get(&(run.key.stage, run.key.sequence));
        let Some(&now) = now.filter(|now| **now != run.definition && name == sequence) else {
            return false;
        };
        let (mine, newest) =
            (&world.definitions[run.definition as usize], &world.definitions[now as usize]);
        let (mine, newest) = (mine.slots(sequence), newest.slots(sequence));
        let Some(at) = newest.iter().position(|it| it == slot) else { return false };
        if run.withdrawn || mine.contains(slot) {
            return false;
        }
        match newest.get(at + 1) {
            None => run.finish().is_complete(),
            Some(next) => {
                let task = mine.iter().position(|it| it == next);
                task.is_some_and(|task| run.cell(run.shape.tasks[task].done).is_complete())
            }
        }
    }

    /// A step became complete: steps before it that were left out are passed now. Tells whether
    /// that makes a slot late.
    pub(crate) fn note_passed(&mut self, world: &World, key: RunKey, cell: u32) -> bool {
        if self.derived.late.is_empty() {
            return false;
        }
        let run = &self.runs[&key];
        let mut left_out = Vec::new();
        run.shape.previous(run.shape.role(cell), &mut |before| {
            if run.cell(before).was_left_out() {
                left_out.push(before);
            }
        });
        let slots: Vec<Slot> =
            left_out.into_iter().filter_map(|before| self.slot_of(world, run, before)).collect();
        let mut slots = slots;
        let open = self.derived.late.iter().filter(|(_, passed)| !**passed);
        let passed = open.map(|(slot, _)| slot).filter(|slot| self.has_passed(world, run, slot));
        slots.extend(passed.cloned());
        let mut any = false;
        for slot in slots {
            if let Some(passed) = self.derived.late.get_mut(&slot) {
                any |= !*passed;
                *passed = true;
            }
        }
        any
    }
}

impl Run {
    fn any_next_complete(&self, cell: u32) -> bool {
        let mut any = false;
        self.shape.next(self.shape.role(cell), &mut |next| any |= self.cell(next).is_complete());
        any
    }

    /// Marks every cell, from the end to the start. Tells whether anything in the run has finished
    /// or is marked, without and with what triggered it.
    fn mark_overtaken(&mut self, beyond: bool) -> (bool, bool) {
        let Self { shape, cells, .. } = self;
        let mut mark = |cell: u32, after: bool, join: bool| {
            let cell: &mut Cell = &mut cells[cell as usize];
            cell.set_overtaken(after);
            after || if join { cell.is_over() } else { cell.is_finished() }
        };
        let mut after = mark(shape.finish, beyond, true);
        for task in shape.tasks.iter().rev() {
            after = mark(task.done, after, !task.groups.is_empty());
            let mut whole = after;
            for group in &shape.groups[task.groups.clone()] {
                let joined = mark(group.finish, after, true);
                let mut inside = joined;
                for member in 0..group.members.len() as u32 {
                    let links = (0..group.chain.len() as u32).rev();
                    inside |= links
                        .fold(joined, |after, link| mark(group.cell(member, link), after, false));
                }
                whole |= mark(group.start, inside, false);
            }
            after = whole;
        }
        let started = mark(super::shape::Shape::STARTED, after, false);
        (started, mark(super::shape::Shape::TRIGGERED, started, false))
    }
}
