use seaway_api::Record;
use seaway_model::{Fact, Kind};

use crate::print::Paint;

/// What a record means to somebody who waits for a deployment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Something ended: a line that stays.
    Line(Paint, String),
    /// What is going on now.
    Now(String),
    /// The whole may be over.
    End,
}

/// The interesting part of a record, if there is one.
pub(crate) fn tell(record: &Record) -> Option<Told> {
    let kind: Kind = record.kind.parse().ok()?;
    let fact: Fact = record.fact.parse().ok()?;
    let path = Path::of(&record.target);
    let warned = record.outcome.as_deref() == Some("warning");
    let ended = |what: &str| match fact {
        Fact::Finished if warned => Some((Paint::Busy, format!("{what} passed with a warning"))),
        Fact::Finished => Some((Paint::Good, format!("{what} passed"))),
        Fact::Failed => Some((Paint::Bad, format!("{what} failed"))),
        Fact::Skipped | Fact::Cancelled | Fact::Superseded => {
            Some((Paint::Faint, format!("{what} was {fact}")))
        }
        _ => None,
    };
    let line = |(paint, text)| Told::Line(paint, text);
    match (kind, fact) {
        (Kind::PipelineFinished, _) | (Kind::Deployment, Fact::Aborted) => Some(Told::End),
        (Kind::SequenceStarted, Fact::Finished) => {
            Some(Told::Line(Paint::Plain, format!("{} started", path.run?)))
        }
        (Kind::SequenceFinished, _) => ended(&path.run?).map(line),
        // What one of several executors says is a part of its task.
        (Kind::TaskDone, Fact::Claimed | Fact::Started) if path.executor.is_some() => {
            Some(Told::Now(format!("{}: {} is working on it", path.task?, path.executor?)))
        }
        (Kind::TaskDone, _) if path.executor.is_some() => None,
        (Kind::TaskDone, Fact::Dispatched) => Some(Told::Now(format!("{} is next", path.task?))),
        (Kind::TaskDone, _) => ended(&format!("  {}", path.task?)).map(line),
        (Kind::Deployment, Fact::Paused | Fact::Resumed) => {
            Some(Told::Line(Paint::Busy, format!("{fact} by {}", record.by)))
        }
        _ => None,
    }
}

/// The parts of `shop/beta/delivery#1/test@jmeter`, as sentences need them.
#[derive(Debug, PartialEq, Eq)]
struct Path {
    run: Option<String>,
    task: Option<String>,
    executor: Option<String>,
}

impl Path {
    fn of(target: &str) -> Self {
        let mut parts = target.split('/').skip(1);
        let run = match (parts.next(), parts.next()) {
            (Some(stage), Some(run)) => {
                let (sequence, number) = run.split_once('#').unwrap_or((run, "1"));
                let again = if number == "1" { String::new() } else { format!(" (run {number})") };
                Some(format!("{stage}.{sequence}{again}"))
            }
            _ => None,
        };
        // The name of an executor may have slashes of its own.
        let executor = target.split_once('@').map(|(_, executor)| executor.to_owned());
        let task = parts.next().map(|it| it.split_once('@').map_or(it, |(task, _)| task));
        let inner = task.map(|task| run.as_ref().map(|run| format!("{task} of {run}")));
        Self { run, task: inner.flatten(), executor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(target: &str, kind: &str, fact: &str, outcome: Option<&str>) -> Option<Told> {
        let record = serde_json::json!({
            "seq": 1, "at": "", "target": target, "kind": kind, "fact": fact, "attempt": 1, "n": 0,
            "outcome": outcome, "by": "ann", "hash": ""
        });
        tell(&serde_json::from_value(record).expect("it has the shape of a record"))
    }

    #[test]
    fn records_are_told_in_words() {
        let test = "shop/beta/delivery#1/test";
        for (target, kind, fact, outcome, expected) in [
            (test, "task-done", "finished", Some("pass"), "  test of beta.delivery passed"),
            (test, "task-done", "failed", Some("fail"), "  test of beta.delivery failed"),
            (test, "task-done", "skipped", None, "  test of beta.delivery was skipped"),
            (
                "shop/beta/delivery#2",
                "sequence-started",
                "finished",
                None,
                "beta.delivery (run 2) started",
            ),
            (
                "shop/beta/delivery#1",
                "sequence-finished",
                "finished",
                Some("warning"),
                "beta.delivery passed with a warning",
            ),
            ("shop", "deployment", "paused", None, "paused by ann"),
        ] {
            let Some(Told::Line(_, text)) = told(target, kind, fact, outcome) else {
                panic!("{kind} {fact} is a line");
            };
            assert_eq!(text, expected);
        }
        let part = format!("{test}@jmeter");
        assert_eq!(
            told(&part, "task-done", "claimed", None),
            Some(Told::Now("test of beta.delivery: jmeter is working on it".into()))
        );
        assert_eq!(told(&part, "task-done", "finished", Some("pass")), None);
        assert_eq!(told("shop", "pipeline-finished", "failed", None), Some(Told::End));
        assert_eq!(told("shop", "something", "new", None), None);
    }
}
