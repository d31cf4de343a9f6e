use std::collections::VecDeque;

use seaway_model::Seq;

/// Knows which look-ups of a version are too old to be relied on.
///
/// A driver asks the store for the number of a version before the command is decided. Versions that
/// were registered in between are known to the kernel, but only the last thousand: a look-up that
/// lies further back could register a version twice.
#[derive(Debug)]
pub(super) struct Registrations {
    /// Everything up to here must have been visible to a look-up.
    floor: Seq,
    recent: VecDeque<Seq>,
}

impl Registrations {
    /// Fewer than the kernel remembers.
    const KEPT: usize = 900;

    /// After a load nothing is known about what was looked up before it.
    pub(super) fn new(head: Seq) -> Self {
        Self { floor: head, recent: VecDeque::new() }
    }

    pub(super) fn note(&mut self, seq: Seq) {
        if self.recent.len() == Self::KEPT {
            self.floor = self.recent.pop_front().expect("it is full");
        }
        self.recent.push_back(seq);
    }

    /// Whether a look-up that saw the log up to `as_of` can be relied on.
    pub(super) fn cover(&self, as_of: Seq) -> bool {
        as_of >= self.floor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_up_is_stale_when_more_was_registered_since_than_is_remembered() {
        let mut registrations = Registrations::new(Seq(10));
        assert!(!registrations.cover(Seq(9)));
        assert!(registrations.cover(Seq(10)));
        for seq in 0..Registrations::KEPT as u64 {
            registrations.note(Seq(20 + seq));
        }
        assert!(registrations.cover(Seq(10)));
        registrations.note(Seq(5_000));
        assert!(!registrations.cover(Seq(10)));
        assert!(registrations.cover(Seq(20)));
    }
}
