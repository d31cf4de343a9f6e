use seaway_model::TargetId;

use super::cell::{Cell, Status};
use super::shape::{Role, Shape};
use super::spot::RunKey;
use crate::structure::{Sequence, When};

/// One execution of a sequence.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) key: RunKey,
    pub(crate) target: TargetId,
    pub(crate) definition: u32,
    /// Has begun, and keeps its definition to the end.
    pub(crate) pinned: bool,
    /// Its sequence left the structure before the run had begun.
    pub(crate) withdrawn: bool,
    pub(crate) holds_service: bool,
    pub(crate) holds_range: bool,
    pub(crate) shape: Shape,
    pub(crate) cells: Vec<Cell>,
    pub(crate) counts: Counts,
    /// Derived: the walk has met the end of the run, and goes on behind it.
    pub(crate) exits: bool,
}

/// What the cells of a run add up to. Derived, and kept up to date step by step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) in_flight: u32,
    pub(crate) failed: u32,
    /// Steps that only a person can move: see [`Cell::is_stale`].
    pub(crate) stale: u32,
    /// Steps that did something at their place.
    pub(crate) worked: u32,
    /// Steps that were skipped because a newer revision is at their place.
    pub(crate) outdated: u32,
    pub(crate) groups: Vec<GroupCount>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupCount {
    /// Members that are neither through nor failed.
    pub(crate) open: u32,
    pub(crate) failed: u32,
    pub(crate) warned: u32,
}

/// How a join ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Warned,
    Failed,
    Superseded,
}

impl Run {
    pub(crate) fn cell(&self, cell: u32) -> Cell {
        self.cells[cell as usize]
    }

    pub(crate) fn finish(&self) -> Cell {
        self.cell(self.shape.finish)
    }

    /// Changes a cell and what depends on it, except what becomes reachable.
    pub(crate) fn set(&mut self, cell: u32, status: Status) {
        let role = self.shape.role(cell);
        self.count(role, cell, -1);
        self.cells[cell as usize].set(status);
        self.count(role, cell, 1);
    }

    pub(crate) fn change(&mut self, cell: u32, change: impl FnOnce(&mut Cell)) {
        let role = self.shape.role(cell);
        self.count(role, cell, -1);
        change(&mut self.cells[cell as usize]);
        self.count(role, cell, 1);
    }

    fn count(&mut self, role: Role, cell: u32, by: i32) {
        let value = self.cells[cell as usize];
        let add = |count: &mut u32, yes: bool| {
            if yes {
                *count = count.wrapping_add_signed(by);
            }
        };
        let places = self.changes_place(role);
        add(&mut self.counts.in_flight, value.in_flight());
        add(&mut self.counts.failed, value.has_failed());
        add(&mut self.counts.stale, value.is_stale() && self.shape.has_work(role));
        add(&mut self.counts.worked, places && (value.is_finished() || value.has_failed()));
        add(&mut self.counts.outdated, value.status() == Status::Outdated);
    }

    /// Whether the step, when done, leaves something at its place.
    fn changes_place(&self, role: Role) -> bool {
        match role {
            Role::Link { link: 0, group, .. } if self.shape.groups[group].changes_members() => true,
            role => self.shape.has_work(role),
        }
    }

    /// Counts everything afresh.
    pub(crate) fn recount(&mut self) {
        self.counts = Counts::default();
        for cell in 0..self.shape.len() as u32 {
            self.count(self.shape.role(cell), cell, 1);
        }
        let groups = 0..self.shape.groups.len();
        self.counts.groups = groups.map(|group| self.count_group(group)).collect();
    }

    fn count_group(&self, group: usize) -> GroupCount {
        let shape = &self.shape.groups[group];
        let mut count = GroupCount::default();
        for member in 0..shape.members.len() as u32 {
            let first = shape.cell(member, 0) as usize;
            let chain = &self.cells[first..first + shape.chain.len()];
            count.warned += u32::from(chain.iter().any(|cell| cell.status() == Status::Warned));
            match chain.iter().find(|cell| !cell.lets_through()) {
                Some(cell) if cell.has_failed() => count.failed += 1,
                Some(_) => count.open += 1,
                None => {}
            }
        }
        count
    }

    /// Whether a task of this run runs, given how the run went before it.
    pub(crate) fn condition_holds(&self, definition: &Sequence, task: usize) -> bool {
        let failed = || self.shape.tasks[..task].iter().any(|it| self.cell(it.done).has_failed());
        match definition.tasks[task].when {
            When::Always => true,
            When::Succeeded => !failed(),
            When::Failed => failed(),
        }
    }

    pub(crate) fn group_verdict(&self, group: usize) -> Verdict {
        match self.counts.groups[group] {
            GroupCount { failed: 1.., .. } => Verdict::Failed,
            GroupCount { warned: 1.., .. } => Verdict::Warned,
            _ => Verdict::Passed,
        }
    }

    /// How a task with groups ends.
    pub(crate) fn task_verdict(&self, task: usize) -> Verdict {
        let groups = &self.shape.groups[self.shape.tasks[task].groups.clone()];
        worst(groups.iter().map(|group| self.cell(group.finish)))
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let verdict = worst(self.shape.tasks.iter().map(|task| self.cell(task.done)));
        let idle = self.counts.worked == 0 && self.counts.outdated > 0;
        if idle && verdict != Verdict::Failed { Verdict::Superseded } else { verdict }
    }

    pub(crate) fn groups_settled(&self, task: usize) -> bool {
        self.shape.tasks[task].groups.clone().all(|group| {
            let finish = self.cell(self.shape.groups[group].finish);
            let over = finish.is_passed_over() && self.counts.groups[group].open == 0;
            finish.is_settled() || over
        })
    }

    /// Nothing in it moves or can be moved any more, and nothing in it failed.
    pub(crate) fn is_quiet(&self) -> bool {
        self.counts.in_flight == 0 && self.counts.failed == 0 && self.counts.stale == 0
    }

    /// Whether a step of a chain ended before one that comes before it, or after one behind it.
    pub(crate) fn is_out_of_turn(&self, cell: u32) -> bool {
        match self.shape.role(cell) {
            Role::Link { group, link, .. } => {
                let last = cell - link + self.shape.groups[group].chain.len() as u32;
                (cell - link..cell).any(|before| !self.cell(before).lets_through())
                    || (cell + 1..last).any(|behind| !self.cell(behind).is_idle())
            }
            _ => false,
        }
    }

    /// Whether something of a task was dispatched that still counts.
    pub(crate) fn was_entered(&self, task: usize) -> bool {
        let task = &self.shape.tasks[task];
        let dispatched = |cell: Cell| cell.in_flight() || cell.is_finished() || cell.has_failed();
        match &self.shape.groups[task.groups.clone()] {
            [] => dispatched(self.cell(task.done)),
            groups => groups.iter().any(|group| dispatched(self.cell(group.start))),
        }
    }

    /// The first step of a chain of this run that failed at a member and keeps it to the run's end.
    /// What else the run does there takes it over instead of waiting for itself.
    pub(crate) fn failed_holding(&self, part: u32) -> Option<u32> {
        if self.counts.failed == 0 {
            return None;
        }
        self.shape.groups.iter().find_map(|group| {
            let first = group.cell(group.members.position(part)?, 0);
            let chain = &self.cells[first as usize..first as usize + group.chain.len()];
            let over = !chain.iter().any(|cell| cell.in_flight());
            let failed = chain.iter().any(|cell| cell.has_failed());
            (chain[0].holds() && over && failed).then_some(first)
        })
    }

    /// Hands a member from a chain that failed there to the one that begins.
    pub(crate) fn take_over_member(&mut self, cell: u32) {
        let Role::Link { group, member, link } = self.shape.role(cell) else { return };
        let shape = &self.shape.groups[group];
        let first = (cell - link) as usize;
        if !shape.changes_members() || self.cells[first].holds() {
            return;
        }
        let part = shape.members.parts[member as usize];
        if let Some(from) = self.failed_holding(part) {
            self.cells[from as usize].set_holds(false);
            self.cells[first].set_holds(true);
        }
    }

    /// Whether the member that a step is about is held.
    pub(crate) fn holds_member(&self, cell: u32) -> bool {
        match self.shape.role(cell) {
            Role::Link { link, .. } => self.cell(cell - link).holds(),
            _ => false,
        }
    }

    /// Whether the run holds something that others can only want while they hold the service.
    pub(crate) fn holds_inner(&self) -> bool {
        let shapes = self.shape.groups.iter();
        self.holds_range
            || shapes.filter(|group| group.changes_members()).any(|group| {
                let mut members = 0..group.members.len() as u32;
                members.any(|member| self.cell(group.cell(member, 0)).holds())
            })
    }

    pub(crate) fn in_range(&self, definition: &Sequence, role: Role) -> bool {
        let range = definition.range.as_ref().filter(|range| range.batch.policy.excludes());
        match (range, self.shape.task_of(role)) {
            (Some(range), Some(task)) => (range.first..=range.last).contains(&(task as u32)),
            _ => false,
        }
    }
}

pub(crate) fn worst(cells: impl Iterator<Item = Cell>) -> Verdict {
    let mut verdict = Verdict::Passed;
    for cell in cells {
        verdict = match (cell.status(), verdict) {
            (Status::Failed, _) | (_, Verdict::Failed) => Verdict::Failed,
            (Status::Superseded, _) | (_, Verdict::Superseded) => Verdict::Superseded,
            (Status::Warned, _) | (_, Verdict::Warned) => Verdict::Warned,
            _ => Verdict::Passed,
        };
    }
    verdict
}
