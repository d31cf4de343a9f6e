use serde::{Deserialize, Serialize};

/// What a load says when it has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) seconds: f64,
    pub(crate) transitions_per_s: f64,
    pub(crate) sequences_per_s: f64,
    pub(crate) handover_p50_ms: f64,
    pub(crate) handover_p99_ms: f64,
    /// Processor time of the load itself.
    pub(crate) processor_seconds: f64,
    /// How many claims it took, and so how many tasks a claim gave.
    pub(crate) claims: usize,
    /// How long the first and the last ten thousand sequences took, of a long load.
    pub(crate) first_10k_seconds: Option<f64>,
    pub(crate) last_10k_seconds: Option<f64>,
}
