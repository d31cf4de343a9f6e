use std::process::ExitCode;

use tokio::signal::unix::SignalKind;

use crate::out::aside;

/// Exit codes are part of the interface; scripts depend on them.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
/// Shells report this plus its number for a program that a signal ended.
const SIGNALLED: i32 = 128;

/// The arguments can be parsed, but do not fit what is there.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongUsage(pub(crate) String);

/// Whoever read our output has gone away: it has seen enough.
#[derive(Debug, thiserror::Error)]
#[error("the output is closed")]
pub(crate) struct ReaderGone;

/// A signal asked the process to end.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted(pub(crate) SignalKind);

/// Says what went wrong, in one line, and gives the exit code for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if error.is::<ReaderGone>() {
        return ExitCode::SUCCESS;
    }
    aside(format_args!("error: {error:#}"));
    let code = match error.downcast_ref::<Interrupted>() {
        Some(Interrupted(signal)) => {
            u8::try_from(SIGNALLED + signal.as_raw_value()).unwrap_or(FAILED)
        }
        None if error.is::<WrongUsage>() => USAGE,
        None => FAILED,
    };
    ExitCode::from(code)
}
