use std::collections::BTreeSet;

use super::types::{Slot, Structure};

/// The slots that a change introduces. Old and new task lists are matched by their longest common
/// subsequence; what is left over on the new side is introduced, unless the same slot stands
/// matched in another list: adding a task to one stage does not make it new in the others.
pub(crate) fn introduced(old: &Structure, new: &Structure) -> BTreeSet<Slot> {
    let (known, now) = (old.slots(), new.slots());
    let kinds = now.difference(&known).filter(|slot| matches!(slot, Slot::Kind(_)));
    let mut fresh: BTreeSet<Slot> = kinds.cloned().collect();
    let mut matched = BTreeSet::new();
    for (name, stage) in &new.stages {
        let before = old.stages.get(name);
        for (sequence, definition) in &stage.sequences {
            let was = before.and_then(|stage| stage.sequences.get(sequence));
            let slots = definition.slots(sequence);
            let kept = match was {
                Some(was) if was.tasks == definition.tasks => vec![true; slots.len()],
                Some(was) => common(&was.slots(sequence), &slots),
                None => vec![false; slots.len()],
            };
            for (slot, kept) in slots.into_iter().zip(kept) {
                let side = if kept { &mut matched } else { &mut fresh };
                side.insert(slot);
            }
        }
    }
    fresh.retain(|slot| !matched.contains(slot));
    fresh
}

/// For every item of `new`, whether it is part of the longest common subsequence with `old`.
fn common<T: PartialEq>(old: &[T], new: &[T]) -> Vec<bool> {
    let width = new.len() + 1;
    let mut length = vec![0_u32; (old.len() + 1) * width];
    for (i, left) in old.iter().enumerate().rev() {
        for (j, right) in new.iter().enumerate().rev() {
            length[i * width + j] = if left == right {
                length[(i + 1) * width + j + 1] + 1
            } else {
                length[(i + 1) * width + j].max(length[i * width + j + 1])
            };
        }
    }
    let mut kept = vec![false; new.len()];
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            kept[j] = true;
            (i, j) = (i + 1, j + 1);
        } else if length[(i + 1) * width + j] >= length[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::common;

    /// By trying every choice of items.
    fn longest(old: &[u8], new: &[u8]) -> usize {
        let is_within = |wanted: &[u8]| {
            let mut rest = old.iter();
            wanted.iter().all(|item| rest.any(|it| it == item))
        };
        let choices = 0_u32..1 << new.len();
        let chosen = choices.map(|bits| {
            let items = new.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
            items.map(|(_, item)| *item).collect::<Vec<u8>>()
        });
        chosen.filter(|items| is_within(items)).map(|items| items.len()).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn what_is_kept_is_a_longest_common_subsequence(
            old in prop::collection::vec(0_u8..4, 0..8),
            new in prop::collection::vec(0_u8..4, 0..8),
        ) {
            let kept = common(&old, &new);
            let items: Vec<u8> =
                new.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(item, _)| *item).collect();
            let mut rest = old.iter();
            prop_assert!(items.iter().all(|item| rest.any(|it| it == item)));
            prop_assert_eq!(items.len(), longest(&old, &new));
        }
    }
}
