use std::error::Error;
use std::io;
use std::time::Duration;

use seaway_api::Problem;

/// Why a call has no answer, or not the one that was hoped for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server says no, and why.
    #[error("{}", told(.0))]
    Problem(Box<Problem>),
    /// The server has too much to do, also after the call was made several times.
    #[error("{}; try again in {} s", told(problem).trim_end_matches('.'), after.as_secs().max(1))]
    Busy { problem: Box<Problem>, after: Duration },
    #[error("{}", unreachable(url, source))]
    Unreachable { url: String, source: reqwest::Error },
    #[error("the server at {url} did not answer within {} s; try again", limit.as_secs())]
    TimedOut { url: String, limit: Duration },
    /// The connection broke after the call was sent; what it asked for may have happened.
    #[error("the connection to {url} broke before the answer was there; try again")]
    Broken { url: String, source: reqwest::Error },
    /// Something answers there, which is not the interface.
    #[error("what answers at {url} is no Seaway server, or not of this version: {what}")]
    NotSeaway { url: String, status: u16, what: String },
    /// The server stops, or hands the project to another one.
    #[error("the server at {url} ended the stream; try again")]
    Ended { url: String },
    #[error("{url} answers with more than {} MiB; ask for less", most >> 20)]
    TooLarge { url: String, most: usize },
    #[error("{0:?} is no address of a server; write it as http://127.0.0.1:8080")]
    BadUrl(String),
    #[error("the token has characters that no token has; check --token or SEAWAY_TOKEN")]
    BadToken,
    #[error("{name:?} cannot be the name of a {what}")]
    BadName { what: &'static str, name: String },
    #[error("connections cannot be prepared; check the certificates that were given")]
    Setup(#[source] reqwest::Error),
}

impl ClientError {
    /// What the server said, if it did.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Problem(problem) | Self::Busy { problem, .. } => Some(problem),
            _ => None,
        }
    }

    /// Whether the server said this: `stale-fence`, `unknown-project`.
    #[must_use]
    pub fn is(&self, code: &str) -> bool {
        self.problem().is_some_and(|problem| problem.code == code)
    }

    /// The status that the server answered with.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.problem().map(|problem| problem.status)
    }

    /// Whether the same call may go well later, without anybody changing anything.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Busy { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Broken { .. }
            | Self::Ended { .. } => true,
            Self::Problem(problem) => problem.status >= 500,
            // A gateway in front of a server that is being started answers for it.
            Self::NotSeaway { status, .. } => *status >= 500,
            _ => false,
        }
    }
}

fn told(problem: &Problem) -> String {
    let mut text = problem.detail.clone();
    for it in &problem.invalid {
        text.push_str(&format!("\n  {}: {}", it.at, it.detail));
    }
    text
}

fn unreachable(url: &str, error: &reqwest::Error) -> String {
    const ELSE: &str = "or name another with --url or SEAWAY_URL";
    if error.is_dns() {
        return format!("the host of {url} is not known; check --url or SEAWAY_URL");
    }
    match cause(error) {
        Some(Cause::Refused) => {
            format!("no server answers at {url}; start one with `seaway serve`, {ELSE}")
        }
        Some(Cause::Tls(why)) => {
            format!("no safe connection to {url}: {why}; check the address and its certificate")
        }
        None if error.is_timeout() => {
            format!("nothing answers at {url}; check that it can be reached from here, {ELSE}")
        }
        None => format!("{url} cannot be reached ({}); check it, {ELSE}", last(error)),
    }
}

enum Cause {
    Refused,
    Tls(String),
}

fn cause(error: &reqwest::Error) -> Option<Cause> {
    let mut at: &(dyn Error + 'static) = error;
    loop {
        if let Some(error) = at.downcast_ref::<rustls::Error>() {
            return Some(Cause::Tls(error.to_string()));
        }
        let io = at.downcast_ref::<io::Error>();
        if io.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            return Some(Cause::Refused);
        }
        at = match io.and_then(io::Error::get_ref) {
            // What such an error wraps is not among its sources.
            Some(wrapped) => wrapped,
            None => at.source()?,
        };
    }
}

fn last(error: &reqwest::Error) -> String {
    let mut at: &dyn Error = error;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}
