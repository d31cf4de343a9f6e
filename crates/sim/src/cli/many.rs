use std::time::Instant;

use seaway_sim::{Outcome, Rare, Tally, run as live};

use super::pool;

/// So few worlds need not reach every rare state.
const ENOUGH: u64 = 500;
const SHOWN: usize = 20;
/// What makes a world worth its time.
const MEDIAN_RECORDS: usize = 300;
const LEAST_FAULTS: u32 = 50;

#[derive(Default)]
struct Sum {
    records: Vec<usize>,
    faults: Vec<u32>,
    tally: Tally,
    failed: Vec<(u64, String)>,
}

/// Runs many worlds. Fails when one does, or when a rare state was never reached.
pub(super) fn run(start: u64, seeds: u64) -> bool {
    let begun = now();
    let mut sum = Sum::default();
    let work = |seed| live(seed, None, false);
    pool::run(start..start + seeds, work, |outcome| {
        sum.add(outcome);
        let done = sum.records.len();
        if done.is_multiple_of(500) {
            let rate = done as f64 / begun.elapsed().as_secs_f64();
            say!("{done} worlds, {rate:.0} per second, {} failed", sum.failed.len());
        }
        false
    });
    let seconds = begun.elapsed().as_secs_f64();
    say!("{seeds} worlds in {seconds:.1} s: {:.1} per second", seeds as f64 / seconds);
    sum.report(seeds)
}

impl Sum {
    fn add(&mut self, outcome: Outcome) {
        self.records.push(outcome.tally.records);
        self.faults.push(outcome.tally.faults);
        for (rare, count) in &outcome.tally.rare {
            *self.tally.rare.entry(*rare).or_default() += count;
        }
        if let Some(violation) = outcome.violation {
            let seed = outcome.seed;
            if self.failed.len() < SHOWN {
                let shown = violation.to_string();
                say!("seed {seed} FAILED: {}", shown.lines().next().unwrap_or_default());
                say!("  replay: cargo xtask sim --seed {seed} --transcript");
            }
            self.failed.push((seed, format!("{:?}", violation.rule)));
        }
    }

    fn report(&mut self, seeds: u64) -> bool {
        self.records.sort_unstable();
        let median = self.records.get(self.records.len() / 2).copied().unwrap_or_default();
        let least = self.faults.iter().min().copied().unwrap_or_default();
        say!("median of {median} records per world, at least {least} faults in each");
        let mut never = 0;
        for rare in Rare::ALL {
            let count = self.tally.rare.get(&rare).copied().unwrap_or_default();
            say!("{count:>9}  {}", rare.text());
            never += u32::from(count == 0);
        }
        if !self.failed.is_empty() {
            self.failed.sort();
            say!("{} of {seeds} worlds failed: {:?}", self.failed.len(), self.rules());
        }
        if never > 0 && seeds >= ENOUGH {
            say!("{never} rare states were never reached");
        }
        let lively = median >= MEDIAN_RECORDS && least >= LEAST_FAULTS;
        if !lively {
            say!("worlds should have {MEDIAN_RECORDS} records and {LEAST_FAULTS} faults");
        }
        self.failed.is_empty() && (never == 0 || seeds < ENOUGH) && lively
    }

    /// How many worlds broke each rule, and the first of them.
    fn rules(&self) -> std::collections::BTreeMap<&str, (usize, u64)> {
        let mut rules = std::collections::BTreeMap::new();
        for (seed, rule) in &self.failed {
            rules.entry(rule.as_str()).or_insert((0, *seed)).0 += 1;
        }
        rules
    }
}

#[expect(clippy::disallowed_methods, reason = "the rate is shown, and decides nothing")]
fn now() -> Instant {
    Instant::now()
}
