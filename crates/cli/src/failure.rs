use std::process::ExitCode;

/// Exit codes are part of the interface; scripts depend on them.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
/// What shells report for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

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
pub(crate) struct Interrupted;

/// Says what went wrong, in one line, and gives the exit code for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if error.is::<ReaderGone>() {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {error:#}");
    let code = match error {
        _ if error.is::<WrongUsage>() => USAGE,
        _ if error.is::<Interrupted>() => INTERRUPTED,
        _ => FAILED,
    };
    ExitCode::from(code)
}
