use std::process::ExitCode;

use seaway_client::ClientError;
use tokio::signal::unix::SignalKind;

use crate::out::aside;

/// Exit codes are part of the interface; scripts depend on them.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const CHANGES: u8 = 3;
const NOT_AUTHENTICATED: u8 = 4;
const DENIED: u8 = 5;
const TIMED_OUT: u8 = 6;
const BLOCKED: u8 = 7;
const MOVED: u8 = 8;
/// Shells report this plus its number for a program that a signal ended.
const SIGNALLED: i32 = 128;

const GIVE_A_TOKEN: &str = "give a token with --token-file, --token or SEAWAY_TOKEN; a new server \
                            writes the first one to admin.token in its data directory";

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

/// A command did what it should, and what it found has an exit code of its own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Found {
    #[error("there are changes")]
    Changes,
    #[error("{0}")]
    TimedOut(String),
    #[error("{0}")]
    Blocked(String),
}

/// Says what went wrong, and gives the exit code for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if error.is::<ReaderGone>() {
        return ExitCode::SUCCESS;
    }
    // Changes are no mistake, and were printed.
    if !matches!(error.downcast_ref(), Some(Found::Changes)) {
        aside(format_args!("error: {}", shown(error)));
    }
    let code = code(error);
    if code == NOT_AUTHENTICATED {
        aside(GIVE_A_TOKEN);
    }
    ExitCode::from(code)
}

/// The causes below an answer of the server are of no use to whoever reads it.
fn shown(error: &anyhow::Error) -> String {
    match error.downcast_ref::<ClientError>() {
        Some(_) => error.to_string(),
        None => format!("{error:#}"),
    }
}

fn code(error: &anyhow::Error) -> u8 {
    if let Some(Interrupted(signal)) = error.downcast_ref() {
        return u8::try_from(SIGNALLED + signal.as_raw_value()).unwrap_or(FAILED);
    }
    if let Some(found) = error.downcast_ref() {
        return match found {
            Found::Changes => CHANGES,
            Found::TimedOut(_) => TIMED_OUT,
            Found::Blocked(_) => BLOCKED,
        };
    }
    match error.downcast_ref::<ClientError>() {
        Some(ClientError::BadUrl(_) | ClientError::BadName { .. }) => USAGE,
        Some(ClientError::TimedOut { .. }) => TIMED_OUT,
        Some(error) => match error.status() {
            Some(401) => NOT_AUTHENTICATED,
            Some(403) => DENIED,
            Some(409) => MOVED,
            _ => FAILED,
        },
        None if error.is::<WrongUsage>() => USAGE,
        None => FAILED,
    }
}
