use std::collections::BTreeMap;

use seaway_model::{FastMap, Revision};

use crate::structure::Slot;

/// The newest revision that was dispatched at a place, regardless of run and deployment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// By stage, service and group, then by member.
    pub(crate) members: BTreeMap<(u32, u32, u32), FastMap<u32, Revision>>,
    /// By stage, service and slot.
    pub(crate) tasks: BTreeMap<(u32, u32, Slot), Revision>,
}

/// A place, as far as superseding goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Member { stage: u32, service: u32, group: u32, member: u32 },
    Task { stage: u32, service: u32, slot: Slot },
}

impl Places {
    pub(crate) fn newest(&self, place: &Place) -> Option<Revision> {
        match place {
            Place::Member { stage, service, group, member } => {
                self.members.get(&(*stage, *service, *group))?.get(member).copied()
            }
            Place::Task { stage, service, slot } => {
                self.tasks.get(&(*stage, *service, slot.clone())).copied()
            }
        }
    }

    /// Makes room for so many members of a group (by stage, service and group) at once.
    pub(crate) fn reserve(&mut self, group: (u32, u32, u32), members: usize) {
        let known = self.members.entry(group).or_default();
        known.reserve(members.saturating_sub(known.len()));
    }

    pub(crate) fn arrive(&mut self, place: Place, revision: Revision) {
        let newest = match place {
            Place::Member { stage, service, group, member } => {
                let members = self.members.entry((stage, service, group)).or_default();
                members.entry(member).or_default()
            }
            Place::Task { stage, service, slot } => {
                self.tasks.entry((stage, service, slot)).or_default()
            }
        };
        *newest = revision.max(*newest);
    }
}
