use std::collections::BTreeSet;

use seaway_kernel::{Slot, Structure};

/// The slots that a change introduces: kinds that no group had, and tasks that are left over when
/// the old and the new list of a sequence are laid side by side, unless they stand elsewhere.
pub(super) fn introduced(old: &Structure, new: &Structure) -> BTreeSet<Slot> {
    let known = old.slots();
    let is_kind = |slot: &Slot| matches!(slot, Slot::Kind(_));
    let mut fresh: BTreeSet<Slot> =
        new.slots().into_iter().filter(|slot| is_kind(slot) && !known.contains(slot)).collect();
    let mut kept = BTreeSet::new();
    for (name, stage) in &new.stages {
        for (sequence, definition) in &stage.sequences {
            let before = old.stages.get(name).and_then(|stage| stage.sequences.get(sequence));
            let before = before.map(|it| it.slots(sequence)).unwrap_or_default();
            let now = definition.slots(sequence);
            kept.extend(common(&before, &now));
            fresh.extend(now);
        }
    }
    fresh.retain(|slot| !kept.contains(slot));
    fresh
}

/// A longest common subsequence; of several, the one that drops what is old first.
fn common(old: &[Slot], new: &[Slot]) -> Vec<Slot> {
    let (Some((a, old_rest)), Some((b, new_rest))) = (old.split_first(), new.split_first()) else {
        return Vec::new();
    };
    if a == b {
        let mut found = common(old_rest, new_rest);
        found.insert(0, a.clone());
        return found;
    }
    let (without_old, without_new) = (common(old_rest, new), common(old, new_rest));
    if without_old.len() >= without_new.len() { without_old } else { without_new }
}
