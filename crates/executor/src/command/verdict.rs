use std::time::Duration;

use seaway_model::{Outcome, Span};
use serde_json::{Map, Value};

use crate::command::result_file::{Unusable, Written};

/// The exit code that means a warning.
const WARNING: i32 = 10;
const MESSAGE_CHARS: usize = 1_000;

/// What a task amounts to.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub result: Outcome,
    pub standing: Standing,
    pub message: Option<String>,
    /// For the tasks after it.
    pub data: Map<String, Value>,
    /// The end of what the command said.
    pub log: String,
}

/// Whether the command could be carried out to its end, well or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Succeeded,
    Errored,
}

impl Standing {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Errored => "errored",
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut(Duration),
    Stopped,
}

impl Verdict {
    /// Something went wrong that says nothing about the service.
    #[must_use]
    pub fn errored(message: impl Into<String>) -> Self {
        Self {
            result: Outcome::Fail,
            standing: Standing::Errored,
            message: Some(message.into()),
            data: Map::new(),
            log: String::new(),
        }
    }

    /// The result file says how it went, or else the exit code; a command that did not come to its
    /// end has failed, whatever it wrote before.
    pub(super) fn of(
        exit: Exit,
        written: Result<Option<Written>, Unusable>,
        last_words: Option<String>,
    ) -> Self {
        let with = |what: String| match &last_words {
            Some(words) => format!("{what}: {words}"),
            None => what,
        };
        let code = match exit {
            Exit::Code(code) => code,
            Exit::Signal(signal) => {
                return Self::errored(with(format!("the command was ended by signal {signal}")));
            }
            Exit::TimedOut(limit) => {
                let limit = Span(i64::try_from(limit.as_micros()).unwrap_or(i64::MAX));
                return Self::errored(with(format!("the command took longer than {limit}")));
            }
            Exit::Stopped => return Self::errored("the worker was stopped"),
        };
        let written = match written {
            Ok(written) => written.unwrap_or_default(),
            Err(unusable) => return Self::errored(with(unusable.to_string())),
        };
        let result = written.result.unwrap_or(match code {
            0 => Outcome::Pass,
            WARNING => Outcome::Warning,
            _ => Outcome::Fail,
        });
        let told = written.message.map(|it| it.chars().take(MESSAGE_CHARS).collect());
        let message = match result {
            Outcome::Pass => told,
            _ => told.or(last_words).or_else(|| Some(format!("exit code {code}"))),
        };
        let standing = Standing::Succeeded;
        Self { result, standing, message, data: written.data, log: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(result: Option<Outcome>, message: Option<&str>) -> Option<Written> {
        Some(Written { result, message: message.map(str::to_owned), data: Map::new() })
    }

    #[test]
    fn a_command_is_judged_by_its_file_and_else_by_its_exit_code() {
        use Outcome::{Fail, Pass, Warning};
        for (code, file, words, result, message) in [
            (0, None, Some("noise"), Pass, None),
            (10, None, None, Warning, Some("exit code 10")),
            (10, None, Some("slow"), Warning, Some("slow")),
            (1, None, Some("no route"), Fail, Some("no route")),
            (127, None, None, Fail, Some("exit code 127")),
            (3, written(Some(Pass), Some("fine")), Some("noise"), Pass, Some("fine")),
            (0, written(Some(Fail), None), Some("p99 too high"), Fail, Some("p99 too high")),
            (10, written(None, Some("slow")), None, Warning, Some("slow")),
        ] {
            let verdict = Verdict::of(Exit::Code(code), Ok(file), words.map(str::to_owned));
            assert_eq!((verdict.result, verdict.message.as_deref()), (result, message), "{code}");
            assert_eq!(verdict.standing, Standing::Succeeded);
        }
    }

    #[test]
    fn a_command_that_did_not_come_to_its_end_has_failed_whatever_it_wrote() {
        let passed = || Ok(written(Some(Outcome::Pass), None));
        let words = || Some("last words".to_owned());
        let limit = Duration::from_secs(90);
        for (exit, file, message) in [
            (Exit::Signal(9), passed(), "the command was ended by signal 9: last words"),
            (
                Exit::TimedOut(limit),
                passed(),
                "the command took longer than 1 min 30 s: last words",
            ),
            (Exit::Stopped, passed(), "the worker was stopped"),
            (Exit::Code(0), Err(Unusable("is no".to_owned())), "$SEAWAY_RESULT is no: last words"),
        ] {
            let verdict = Verdict::of(exit, file, words());
            assert_eq!(verdict, Verdict::errored(message));
            assert_eq!(verdict.result, Outcome::Fail);
        }
    }
}
