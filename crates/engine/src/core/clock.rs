use seaway_model::{Span, Timestamp};

/// Engine time of one project: where its log ended, plus monotonic time since then.
///
/// The wall clock may jump by a day without a lease noticing, because it is never asked.
#[derive(Clone, Copy, Debug)]
pub struct EngineClock {
    last: Timestamp,
    /// The reading of the monotonic clock that belongs to `last`.
    read: Span,
}

impl EngineClock {
    /// Starts at `base`, the time of the log's last record. `monotonic` is a reading of a clock
    /// that never goes back, from any fixed origin.
    #[must_use]
    pub fn new(base: Timestamp, monotonic: Span) -> Self {
        Self { last: base, read: monotonic }
    }

    /// The time at a later reading of the same clock. A reading that lies before an earlier one
    /// counts as that one.
    pub fn now(&mut self, monotonic: Span) -> Timestamp {
        if monotonic > self.read {
            self.last = self.last + Span(monotonic.0 - self.read.0);
            self.read = monotonic;
        }
        self.last
    }

    /// After another load the log may end later than this clock stands: it was written elsewhere.
    pub fn not_before(&mut self, time: Timestamp) {
        self.last = self.last.max(time);
    }

    /// How long to wait, from the last reading on, until `time` is reached.
    #[must_use]
    pub fn until(&self, time: Timestamp) -> Span {
        Span((time - self.last).0.max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_continues_where_the_log_ended_and_never_goes_back() {
        let mut clock = EngineClock::new(Timestamp(1_000), Span(50));
        assert_eq!(clock.now(Span(50)), Timestamp(1_000));
        assert_eq!(clock.now(Span(70)), Timestamp(1_020));
        assert_eq!(clock.now(Span(60)), Timestamp(1_020));
        assert_eq!(clock.until(Timestamp(1_025)), Span(5));
        assert_eq!(clock.until(Timestamp(1_000)), Span(0));
        assert_eq!(clock.now(Span(71)), Timestamp(1_021));
    }

    #[test]
    fn a_log_that_went_on_elsewhere_moves_the_clock_forward_only() {
        let mut clock = EngineClock::new(Timestamp(1_000), Span(0));
        clock.not_before(Timestamp(5_000));
        clock.not_before(Timestamp(2_000));
        assert_eq!(clock.now(Span(1)), Timestamp(5_001));
    }
}
