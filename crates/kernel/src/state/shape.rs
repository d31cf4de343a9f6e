use std::sync::Arc;

use seaway_model::{Kind, TargetId};

use super::world::Members;

/// Which cells a run has, in order: triggered, started, then for every task its groups (started,
/// every member's chain, finished) and the task itself, and finished at the end.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) tasks: Vec<TaskShape>,
    pub(crate) groups: Vec<GroupShape>,
    pub(crate) finish: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct TaskShape {
    pub(crate) target: TargetId,
    /// Its groups, by position in [`Shape::groups`].
    pub(crate) groups: std::ops::Range<usize>,
    pub(crate) done: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct GroupShape {
    pub(crate) target: TargetId,
    pub(crate) task: usize,
    pub(crate) start: u32,
    pub(crate) finish: u32,
    pub(crate) chain: Arc<[Kind]>,
    pub(crate) members: Arc<Members>,
    /// Targets of the members, filled in as they are first used.
    pub(crate) targets: Vec<TargetId>,
}

/// What a cell of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Triggered,
    Started,
    GroupStarted { group: usize },
    Link { group: usize, member: u32, link: u32 },
    GroupFinished { group: usize },
    TaskDone { task: usize },
    Finished,
}

impl Shape {
    pub(crate) const TRIGGERED: u32 = 0;
    pub(crate) const STARTED: u32 = 1;

    pub(crate) fn len(&self) -> usize {
        self.finish as usize + 1
    }

    pub(crate) fn role(&self, cell: u32) -> Role {
        match cell {
            Self::TRIGGERED => return Role::Triggered,
            Self::STARTED => return Role::Started,
            cell if cell == self.finish => return Role::Finished,
            _ => {}
        }
        let group = self.groups.partition_point(|group| group.finish < cell);
        if let Some(shape) = self.groups.get(group)
            && shape.start <= cell
        {
            return if cell == shape.start {
                Role::GroupStarted { group }
            } else if cell == shape.finish {
                Role::GroupFinished { group }
            } else {
                let offset = cell - shape.start - 1;
                let links = shape.chain.len() as u32;
                Role::Link { group, member: offset / links, link: offset % links }
            };
        }
        Role::TaskDone { task: self.tasks.partition_point(|task| task.done < cell) }
    }

    pub(crate) fn kind(&self, role: Role) -> Kind {
        match role {
            Role::Triggered => Kind::SequenceTriggered,
            Role::Started => Kind::SequenceStarted,
            Role::GroupStarted { .. } => Kind::GroupStarted,
            Role::Link { group, link, .. } => self.groups[group].chain[link as usize],
            Role::GroupFinished { .. } => Kind::GroupFinished,
            Role::TaskDone { .. } => Kind::TaskDone,
            Role::Finished => Kind::SequenceFinished,
        }
    }

    /// Whether the step has work of its own: a task without groups, or a link that is no marker.
    pub(crate) fn has_work(&self, role: Role) -> bool {
        match role {
            Role::TaskDone { task } => self.tasks[task].groups.is_empty(),
            Role::Link { .. } => !self.kind(role).is_marker(),
            _ => false,
        }
    }

    /// The task that a cell belongs to.
    pub(crate) fn task_of(&self, role: Role) -> Option<usize> {
        match role {
            Role::GroupStarted { group }
            | Role::Link { group, .. }
            | Role::GroupFinished { group } => Some(self.groups[group].task),
            Role::TaskDone { task } => Some(task),
            Role::Triggered | Role::Started | Role::Finished => None,
        }
    }

    /// First cell of a task.
    pub(crate) fn task_start(&self, task: usize) -> u32 {
        let shape = &self.tasks[task];
        match self.groups.get(shape.groups.clone()).and_then(|groups| groups.first()) {
            Some(group) => group.start,
            None => shape.done,
        }
    }

    /// The steps right after a cell, as the definition has them, whatever happened so far.
    pub(crate) fn next(&self, role: Role, visit: &mut dyn FnMut(u32)) {
        match role {
            Role::Triggered => visit(Self::STARTED),
            Role::Started => self.enter(0, visit),
            Role::GroupStarted { group } => {
                let shape = &self.groups[group];
                if shape.members.len() == 0 {
                    visit(shape.finish);
                }
                (0..shape.members.len() as u32).for_each(|member| visit(shape.cell(member, 0)));
            }
            Role::Link { group, member, link } => {
                let shape = &self.groups[group];
                let last = link + 1 == shape.chain.len() as u32;
                visit(if last { shape.finish } else { shape.cell(member, link + 1) });
            }
            Role::GroupFinished { group } => visit(self.tasks[self.groups[group].task].done),
            Role::TaskDone { task } => self.enter(task + 1, visit),
            Role::Finished => {}
        }
    }

    fn enter(&self, task: usize, visit: &mut dyn FnMut(u32)) {
        match self.tasks.get(task) {
            None => visit(self.finish),
            Some(shape) if shape.groups.is_empty() => visit(shape.done),
            Some(shape) => {
                self.groups[shape.groups.clone()].iter().for_each(|group| visit(group.start));
            }
        }
    }

    /// The steps right before a cell.
    pub(crate) fn previous(&self, role: Role, visit: &mut dyn FnMut(u32)) {
        let before = |task: usize| match task {
            0 => Self::STARTED,
            task => self.tasks[task - 1].done,
        };
        match role {
            Role::Triggered => {}
            Role::Started => visit(Self::TRIGGERED),
            Role::GroupStarted { group } => visit(before(self.groups[group].task)),
            Role::Link { group, link: 0, .. } => visit(self.groups[group].start),
            Role::Link { group, member, link } => visit(self.groups[group].cell(member, link - 1)),
            Role::GroupFinished { group } => {
                let shape = &self.groups[group];
                let last = shape.chain.len() as u32 - 1;
                (0..shape.members.len() as u32).for_each(|member| visit(shape.cell(member, last)));
            }
            Role::TaskDone { task } => {
                let shape = &self.tasks[task];
                if shape.groups.is_empty() {
                    visit(before(task));
                }
                self.groups[shape.groups.clone()].iter().for_each(|group| visit(group.finish));
            }
            Role::Finished => visit(before(self.tasks.len())),
        }
    }

    /// Whether `later` lies in `after(earlier)`; both are cells of this run.
    pub(crate) fn is_after(&self, earlier: u32, later: u32) -> bool {
        if later <= earlier {
            return false;
        }
        let (first, second) = (self.role(earlier), self.role(later));
        match (self.task_of(first), self.task_of(second)) {
            (Some(a), Some(b)) if a == b => match (first, second) {
                (_, Role::TaskDone { .. }) => true,
                (
                    Role::GroupStarted { group: a } | Role::Link { group: a, .. },
                    Role::GroupFinished { group: b },
                )
                | (Role::GroupStarted { group: a }, Role::Link { group: b, .. }) => a == b,
                (
                    Role::Link { group: a, member: x, .. },
                    Role::Link { group: b, member: y, .. },
                ) => a == b && x == y,
                _ => false,
            },
            _ => true,
        }
    }
}

impl GroupShape {
    pub(crate) fn cell(&self, member: u32, link: u32) -> u32 {
        self.start + 1 + member * self.chain.len() as u32 + link
    }

    /// Only chains of hosts and clusters change a place; registering artifacts does not.
    pub(crate) fn changes_members(&self) -> bool {
        self.chain[0] == Kind::MemberStarted
    }
}
