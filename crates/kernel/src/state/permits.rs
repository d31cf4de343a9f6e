use std::collections::{BTreeMap, BTreeSet};

use seaway_model::planted::{Bug, planted};
use seaway_model::{FastMap, Name, Revision, Seq, TargetId};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::spot::Spot;

/// The right to be inside a range of steps, by what it protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum PermitKey {
    /// The batch around a stage.
    Stage(u32),
    /// The batch around some tasks: stage and sequence.
    Range(u32, u32),
    /// One running sequence per service: stage and service.
    Service(u32, u32),
    /// One change at a time: member and service.
    Member(u32, u32),
}

/// A run that holds a permit, or for the batch of a stage the deployment (run 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Holder {
    pub(crate) started: Seq,
    pub(crate) revision: Revision,
    pub(crate) run: TargetId,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Permit {
    pub(crate) holders: SmallVec<[Holder; 1]>,
    /// Whoever took it last. A holder that comes back and finds another here starts again.
    pub(crate) last: Option<Holder>,
    /// Waiters replaced in a row since somebody was served.
    pub(crate) replaced: u32,
}

/// A step in line. The order is the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Waiter {
    pub(crate) revision: Revision,
    pub(crate) started: Seq,
    pub(crate) spot: Spot,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Permits {
    pub(crate) held: FastMap<PermitKey, Permit>,
    /// Whose services were last inside the batches, which are shared by all of them.
    pub(crate) guests: BTreeMap<PermitKey, Name>,
    /// Derived: who is in line.
    lines: BTreeMap<PermitKey, BTreeSet<Waiter>>,
    /// Derived: who waits for a holder to be gone without wanting the permit.
    bystanders: BTreeMap<PermitKey, BTreeSet<Waiter>>,
}

impl Permits {
    pub(crate) fn is_free(&self, key: PermitKey, capacity: u32) -> bool {
        let capacity = if planted(Bug::CapacityIgnored) { u32::MAX } else { capacity };
        self.held.get(&key).is_none_or(|permit| permit.holders.len() < capacity as usize)
    }

    pub(crate) fn holders(&self, key: PermitKey) -> &[Holder] {
        self.held.get(&key).map_or(&[], |permit| &permit.holders)
    }

    pub(crate) fn last(&self, key: PermitKey) -> Option<Holder> {
        self.held.get(&key).and_then(|permit| permit.last)
    }

    pub(crate) fn replaced(&self, key: PermitKey) -> u32 {
        self.held.get(&key).map_or(0, |permit| permit.replaced)
    }

    pub(crate) fn count_replaced(&mut self, key: PermitKey) {
        self.held.entry(key).or_default().replaced += 1;
    }

    /// Makes room for so many keys at once.
    pub(crate) fn reserve(&mut self, keys: usize) {
        self.held.reserve(keys.saturating_sub(self.held.len()));
    }

    pub(crate) fn acquire(&mut self, key: PermitKey, holder: Holder, service: &Name) {
        if let PermitKey::Stage(_) | PermitKey::Range(..) = key
            && self.guests.get(&key) != Some(service)
        {
            self.guests.insert(key, service.clone());
        }
        let permit = self.held.entry(key).or_default();
        permit.holders.push(holder);
        permit.last = Some(holder);
        permit.replaced = 0;
    }

    pub(crate) fn release(&mut self, key: PermitKey, holder: Holder) {
        if let Some(permit) = self.held.get_mut(&key) {
            permit.holders.retain(|held| *held != holder);
        }
    }

    pub(crate) fn line(&self, key: PermitKey) -> impl Iterator<Item = &Waiter> {
        self.lines.get(&key).into_iter().flatten()
    }

    /// The steps of one deployment in a line.
    pub(crate) fn in_line_of(
        &self,
        key: PermitKey,
        (revision, started): (Revision, Seq),
    ) -> Vec<Waiter> {
        let Some(line) = self.lines.get(&key) else { return Vec::new() };
        let first = Waiter { revision, started, spot: Spot::PIPELINE_STARTED };
        let last = Waiter { revision, started, spot: Spot::PIPELINE_FINISHED };
        line.range(first..=last).copied().collect()
    }

    pub(crate) fn first_in_line(&self, key: PermitKey) -> Option<Waiter> {
        if self.lines.is_empty() {
            return None;
        }
        self.lines.get(&key).and_then(|line| line.first()).copied()
    }

    pub(crate) fn join(&mut self, key: PermitKey, waiter: Waiter) {
        self.lines.entry(key).or_default().insert(waiter);
    }

    pub(crate) fn stand_by(&mut self, key: PermitKey, waiter: Waiter) {
        self.bystanders.entry(key).or_default().insert(waiter);
    }

    pub(crate) fn bystanders(&self, key: PermitKey) -> Vec<Waiter> {
        if self.bystanders.is_empty() {
            return Vec::new();
        }
        self.bystanders.get(&key).into_iter().flatten().copied().collect()
    }

    pub(crate) fn leave(&mut self, key: PermitKey, waiter: Waiter) {
        if let Some(line) = self.bystanders.get_mut(&key) {
            line.remove(&waiter);
            if line.is_empty() {
                self.bystanders.remove(&key);
            }
        }
        if let Some(line) = self.lines.get_mut(&key) {
            line.remove(&waiter);
            if line.is_empty() {
                self.lines.remove(&key);
            }
        }
    }

    pub(crate) fn clear_lines(&mut self) {
        self.lines.clear();
        self.bystanders.clear();
    }
}
