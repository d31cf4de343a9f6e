use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use seaway_api::Task;
use seaway_executor::{Cancelled, Definition, Definitions, Ended, Outer, Verdict, run};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

/// A definition that hands a script to a shell, with more keys of its `spec`.
pub(crate) fn script(script: &str, more: &str) -> Definitions {
    command(&json!(["sh", "-c", script]), more)
}

pub(crate) fn command(command: &Value, more: &str) -> Definitions {
    let text = format!(
        "{{apiVersion: seaway.dev/v1, kind: TaskDefinition, metadata: {{name: it}}, \
         spec: {{task: test, command: {command}, {more}}}}}"
    );
    Definitions::parse(&text, "it.yaml").unwrap_or_else(|error| panic!("{}", error.plain()))
}

pub(crate) fn task(number: u32, space: &Value) -> Task {
    let id = format!("t-{number}");
    let event = json!({
        "specversion": "1.0", "id": id, "source": "seaway",
        "type": "sh.keptn.event.test.triggered",
        "data": {
            "project": "shop", "stage": "beta", "service": "cart", "version": "1.0.0",
            "test": space,
        },
    });
    let task = json!({
        "id": id, "task": "test", "deployment": Uuid::from_u128(7),
        "target": "shop/beta/delivery#1/test", "key": format!("key-{number}"), "attempt": 3,
        "lease": 2, "leaseSeconds": 30, "event": event,
    });
    serde_json::from_value(task).expect("it has the shape of a task")
}

/// The environment that the tests run in.
pub(crate) fn outer() -> Outer {
    std::env::vars_os().collect()
}

pub(crate) async fn carried_out(definitions: &Definitions) -> Verdict {
    with(&definitions.all()[0], &json!({})).await
}

pub(crate) async fn with(definition: &Definition, space: &Value) -> Verdict {
    match run(definition, &task(1, space), &outer(), std::future::pending()).await {
        Ended::Done(verdict) => verdict,
        Ended::Lost => panic!("nobody took it away"),
    }
}

/// Runs a command until as many of its processes have signed in, and then cancels it.
pub(crate) async fn cancelled(
    definitions: &Definitions,
    book: &Book,
    count: usize,
    why: Cancelled,
) -> (Ended, Vec<i32>) {
    let cancel = async {
        book.signed(count).await;
        why
    };
    let ended = run(&definitions.all()[0], &task(1, &json!({})), &outer(), cancel).await;
    (ended, book.pids())
}

/// A file outside of the room of a command, where its processes write down who they are.
#[derive(Debug)]
pub(crate) struct Book {
    dir: TempDir,
}

impl Book {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("there is room for a directory") }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("pids")
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// For the `spec` of a definition: `$STAY` signs in, and goes on for longer than any test.
    pub(crate) fn env(&self) -> String {
        let stay = json!("echo $$ >> \"$BOOK\"; exec sleep 1000");
        format!("env: {{BOOK: {:?}, STAY: {stay}}}", self.path())
    }

    pub(crate) fn pids(&self) -> Vec<i32> {
        let text = fs::read_to_string(self.path()).unwrap_or_default();
        text.lines().map(|line| line.trim().parse().expect("a line is a pid")).collect()
    }

    pub(crate) async fn signed(&self, count: usize) {
        let all_there = || {
            let text = fs::read_to_string(self.path()).unwrap_or_default();
            text.matches('\n').count() >= count
        };
        until(all_there).await;
    }
}

/// Whether a process still does something.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map_or("", |(_, rest)| &rest[..1]);
    !matches!(state, "" | "Z" | "X")
}

/// Whether a process does something, or was not waited for.
pub(crate) fn is_there(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[track_caller]
pub(crate) fn assert_gone(pids: &[i32]) {
    let alive: Vec<&i32> = pids.iter().filter(|pid| is_alive(**pid)).collect();
    assert!(alive.is_empty(), "{alive:?} of {pids:?} are still alive");
    let zombies: Vec<&i32> = pids.iter().filter(|pid| is_there(**pid)).collect();
    assert!(zombies.is_empty(), "{zombies:?} of {pids:?} were not waited for");
}

/// Waits for a condition.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    let mut look = tokio::time::interval(Duration::from_millis(5));
    let looking = async {
        while !condition() {
            look.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), looking).await.expect("it comes true");
}
