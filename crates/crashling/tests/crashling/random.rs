use std::time::Duration;

/// Delays from a seed, so that a run can be repeated as far as a race can be.
pub(crate) struct Delays(u64);

impl Delays {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Between 2 and 60 milliseconds: long enough for many appends, and for a checkpoint.
    pub(crate) fn next(&mut self) -> Duration {
        // Splitmix64, which needs nothing but a counter.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        Duration::from_micros(2_000 + bits % 58_000)
    }
}
