use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::EnvFilter;

use super::args::LogFormat;

/// Logs go to standard error. `SEAWAY_LOG` says how much: `info`, `debug`, `seaway_engine=trace`.
pub(super) fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_env("SEAWAY_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    // A second start is a test's; the first one counts.
    let _ = match format {
        LogFormat::Text => logs.with_target(false).with_ansi(stderr().is_terminal()).try_init(),
        LogFormat::Json => logs.json().flatten_event(true).try_init(),
    };
}
