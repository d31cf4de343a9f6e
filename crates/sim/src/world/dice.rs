/// The only source of chance in a world.
#[derive(Debug)]
pub(super) struct Dice(fastrand::Rng);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5ea))
    }

    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.0.u32(0..100) < percent
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0.usize(0..end)
    }

    pub(super) fn count(&mut self, from: usize, to: usize) -> usize {
        self.0.usize(from..=to)
    }

    /// A number of microseconds, given in milliseconds.
    pub(super) fn millis(&mut self, from: i64, to: i64) -> i64 {
        self.0.i64(from * 1_000..=to * 1_000)
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() { None } else { Some(&from[self.below(from.len())]) }
    }

    /// One of several, the more often the heavier it is.
    pub(super) fn weighted<T: Copy>(&mut self, choices: &[(u32, T)]) -> T {
        let total: u32 = choices.iter().map(|(weight, _)| weight).sum();
        let mut at = self.0.u32(0..total);
        for (weight, choice) in choices {
            match at.checked_sub(*weight) {
                Some(left) => at = left,
                None => return *choice,
            }
        }
        unreachable!("the number drawn lies below the sum of the weights")
    }
}
