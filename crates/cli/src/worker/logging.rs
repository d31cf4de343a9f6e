use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

/// What the worker does is told on standard error. `SEAWAY_LOG` says how much.
pub(super) fn start() {
    let filter = EnvFilter::try_from_env("SEAWAY_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    // A second start is a test's; the first one counts.
    let _ = logs.with_target(false).with_ansi(stderr().is_terminal()).try_init();
}
