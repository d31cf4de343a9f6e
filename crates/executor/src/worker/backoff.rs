use std::time::Duration;

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);

/// Longer and longer waits between attempts that fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self::up_to(LONGEST)
    }

    pub(super) fn up_to(longest: Duration) -> Self {
        Self { next: FIRST.min(longest), longest }
    }

    /// How long to wait now; what the server asks for is no less, within bounds.
    pub(super) fn wait(&mut self, asked: Option<Duration>) -> Duration {
        let wait = self.next.max(asked.unwrap_or_default()).min(self.longest);
        self.next = (self.next * 2).min(self.longest);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound() {
        let mut backoff = Backoff::up_to(Duration::from_secs(1));
        let waits: Vec<u128> = (0..4).map(|_| backoff.wait(None).as_millis()).collect();
        assert_eq!(waits, [250, 500, 1_000, 1_000]);
        assert_eq!(Backoff::new().wait(Some(Duration::from_secs(2))), Duration::from_secs(2));
        assert_eq!(Backoff::new().wait(Some(Duration::from_secs(99))), LONGEST);
    }
}
