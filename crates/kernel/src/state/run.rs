use seaway_model::{Outcome, Seq, TargetId, Timestamp};

use super::cause::Origin;
use super::cell::{Cell, Status};
use super::shape::{Role, Shape};
use super::spot::RunKey;
use crate::flow::Flow;
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
    /// In whose name it holds them: its own, or that of the run whose failure triggered it.
    pub(crate) holder: TargetId,
    /// The sequences whose ranges it keeps for the runs whose failure triggered it.
    pub(crate) inherited: Vec<u32>,
    /// Something outside started it, or a run here that something outside started: it does not ask
    /// for the batch of its stage.
    pub(crate) exempt: bool,
    /// Where it comes from, in a triggered stage.
    pub(crate) origin: Option<Origin>,
    /// From where on what is introduced is too young for it.
    pub(crate) since: Seq,
    pub(crate) flow: Flow,
    /// When it last came further.
    pub(crate) moved: Timestamp,
    /// When it began, for as long as it may not take longer than it should.
    pub(crate) begun: Option<Timestamp>,
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
    pub(crate) warned: u32,
    /// Tasks that only a person can move on: see [`Cell::is_stale`].
    pub(crate) stale: u32,
    /// Steps that did something at their place.
    pub(crate) worked: u32,
    /// Steps that were skipped because a newer revision is at their place.
    pub(crate) outdated: u32,
    /// Chains that hold their member.
    pub(crate) holding: u32,
    pub(crate) groups: Vec<GroupCount>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupCount {
    /// Members whose chain is neither through nor failed.
    pub(crate) open: u32,
    pub(crate) failed: u32,
    pub(crate) warned: u32,
    /// Members whose chain only a person can move on.
    pub(crate) stale: u32,
}

/// How far one member's chain is.
struct ChainState {
    open: bool,
    failed: bool,
    warned: bool,
    stale: bool,
}

impl ChainState {
    /// A chain is open until its first link that is not through has failed and nothing behind that
    /// is in flight: a link may be put before one that is in flight, and fail.
    fn of(chain: &[Cell]) -> Self {
        let stop = chain.iter().position(|cell| !cell.lets_through());
        let (open, failed, stale) = match stop.map(|stop| &chain[stop..]) {
            None => (false, false, false),
            Some(rest) => {
                let over = rest[0].has_failed() && !rest.iter().any(|cell| cell.in_flight());
                (!over, over, rest[0].is_stale())
            }
        };
        let warned = chain.iter().any(|cell| cell.status() == Status::Warned);
        Self { open, failed, warned, stale }
    }
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
        self.change(cell, |cell| cell.set(status));
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
        if let Role::Link { group, member, .. } = role
            && let Some(count) = self.counts.groups.get_mut(group)
        {
            let shape = &self.shape.groups[group];
            let first = shape.cell(member, 0) as usize;
            let chain = ChainState::of(&self.cells[first..first + shape.chain.len()]);
            add(&mut count.open, chain.open);
            add(&mut count.failed, chain.failed);
            add(&mut count.warned, chain.warned);
            add(&mut count.stale, chain.stale);
        }
        add(&mut self.counts.in_flight, value.in_flight());
        add(&mut self.counts.failed, value.has_failed());
        add(&mut self.counts.warned, value.status() == Status::Warned);
        let task = matches!(role, Role::TaskDone { .. });
        add(&mut self.counts.stale, task && value.is_stale() && self.shape.has_work(role));
        add(&mut self.counts.worked, places && (value.is_finished() || value.has_failed()));
        add(&mut self.counts.outdated, value.status() == Status::Outdated);
        add(&mut self.counts.holding, value.holds());
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
        // Without groups, so that the count of a cell leaves theirs alone.
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
            let chain = ChainState::of(&self.cells[first..first + shape.chain.len()]);
            count.open += u32::from(chain.open);
            count.failed += u32::from(chain.failed);
            count.warned += u32::from(chain.warned);
            count.stale += u32::from(chain.stale);
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

    /// The last task that ran before a task, and how it ended.
    pub(crate) fn last_task(&self, before: usize) -> Option<(usize, Outcome)> {
        let tasks = self.shape.tasks[..before].iter().enumerate().rev();
        tasks.into_iter().find_map(|(task, shape)| match self.cell(shape.done).status() {
            Status::Passed => Some((task, Outcome::Pass)),
            Status::Warned => Some((task, Outcome::Warning)),
            Status::Failed => Some((task, Outcome::Fail)),
            _ => None,
        })
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

    /// Nothing in it moves or can be moved any more, nothing failed, and it was not superseded.
    pub(crate) fn is_quiet(&self, definition: &Sequence) -> bool {
        let superseded = self.finish().status() == Status::Superseded;
        let at_rest = self.counts.in_flight == 0 && self.counts.failed == 0;
        at_rest && !superseded && !self.is_stale(definition)
    }

    /// Whether the walk meets something in it that only a person can move on.
    pub(crate) fn is_stale(&self, definition: &Sequence) -> bool {
        let mut groups = self.shape.groups.iter().zip(&self.counts.groups);
        self.counts.stale > 0
            || groups.any(|(group, count)| {
                // The walk does not enter a task whose condition does not hold.
                count.stale > 0 && self.condition_holds(definition, group.task)
            })
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

    /// Whether a chain needs its member no longer: it is through or failed, and nothing of it is in
    /// flight.
    pub(crate) fn is_chain_over(&self, group: usize, member: u32) -> bool {
        let shape = &self.shape.groups[group];
        let first = shape.cell(member, 0) as usize;
        let chain = &self.cells[first..first + shape.chain.len()];
        let ended = chain[chain.len() - 1].is_complete() || chain.iter().any(|it| it.has_failed());
        ended && !chain.iter().any(|cell| cell.in_flight())
    }

    /// Whether the member that a step is about is held.
    pub(crate) fn holds_member(&self, cell: u32) -> bool {
        match self.shape.role(cell) {
            Role::Link { link, .. } => self.cell(cell - link).holds(),
            _ => false,
        }
    }

    /// Whether it holds the range of a sequence, its own or one that it inherited.
    pub(crate) fn holds_range_of(&self, sequence: u32) -> bool {
        (self.holds_range && self.key.sequence == sequence) || self.inherited.contains(&sequence)
    }

    /// Whether the run holds something that others can only want while they hold the service.
    pub(crate) fn holds_inner(&self) -> bool {
        self.holds_range || !self.inherited.is_empty() || self.counts.holding > 0
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
