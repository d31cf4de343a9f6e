use std::time::Duration;

use crate::watch::millis;

/// How long each of many things took, in microseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies(Vec<u32>);

impl Latencies {
    pub(crate) fn push(&mut self, took: Duration) {
        self.0.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
    }

    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The time that `share` of them stayed within, in milliseconds.
    pub(crate) fn quantile(&mut self, share: f64) -> f64 {
        if self.0.is_empty() {
            return f64::NAN;
        }
        let at = ((self.0.len() as f64 * share).ceil() as usize).clamp(1, self.0.len()) - 1;
        let (_, found, _) = self.0.select_nth_unstable(at);
        millis(Duration::from_micros(u64::from(*found)))
    }
}

/// The one in the middle; of an even number the lower one of the two.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let mut latencies = Latencies::default();
        (1..=100).rev().for_each(|it| latencies.push(Duration::from_millis(it)));
        assert_eq!(latencies.quantile(0.5), 50.0);
        assert_eq!(latencies.quantile(0.99), 99.0);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
