use seaway_model::Seq;

/// How far a follower has come in its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Everything up to here is done.
    position: Seq,
    /// What of it the store knows.
    saved: Seq,
    /// The record that comes next, and how often it failed.
    failed: Option<(Seq, u32)>,
}

/// After so many records that nobody wants the store is told, so that a restart need not look at
/// all of them again.
const SAVED_EVERY: u64 = 1_000;

impl Progress {
    pub(crate) fn at(position: Seq) -> Self {
        Self { position, saved: position, failed: None }
    }

    pub(crate) fn position(&self) -> Seq {
        self.position
    }

    /// The position, if the store should be told.
    pub(crate) fn due(&self) -> Option<Seq> {
        (self.position.0 - self.saved.0 >= SAVED_EVERY).then_some(self.position)
    }

    /// The position, if the store does not know it.
    pub(crate) fn unsaved(&self) -> Option<Seq> {
        (self.position > self.saved).then_some(self.position)
    }

    /// Which attempt the next one at a record is.
    pub(crate) fn attempt(&self, seq: Seq) -> u32 {
        match self.failed {
            Some((failed, times)) if failed == seq => times.saturating_add(1),
            _ => 1,
        }
    }

    pub(crate) fn failed(&mut self, seq: Seq) {
        self.failed = Some((seq, self.attempt(seq)));
    }

    /// Everything up to there is done.
    pub(crate) fn pass(&mut self, seq: Seq) {
        self.position = self.position.max(seq);
        self.failed = None;
    }

    pub(crate) fn saved(&mut self, position: Seq) {
        self.saved = position;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_counted_per_record() {
        let mut progress = Progress::at(Seq(5));
        assert_eq!(progress.attempt(Seq(6)), 1);
        progress.failed(Seq(6));
        progress.failed(Seq(6));
        assert_eq!((progress.attempt(Seq(6)), progress.attempt(Seq(7))), (3, 1));
        assert_eq!(progress.position(), Seq(5));
        progress.pass(Seq(6));
        assert_eq!((progress.attempt(Seq(6)), progress.position()), (1, Seq(6)));
    }

    #[test]
    fn the_store_is_told_now_and_then() {
        let mut progress = Progress::at(Seq(5));
        assert_eq!((progress.due(), progress.unsaved()), (None, None));
        progress.pass(Seq(1_004));
        assert_eq!((progress.due(), progress.unsaved()), (None, Some(Seq(1_004))));
        progress.pass(Seq(1_005));
        assert_eq!(progress.due(), Some(Seq(1_005)));
        progress.saved(Seq(1_005));
        assert_eq!((progress.due(), progress.unsaved()), (None, None));
    }
}
