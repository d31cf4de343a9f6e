use crate::harbor::{Process, Server, TWO_STAGES, write};

const TASKS: &str = "\
apiVersion: seaway.dev/v1
kind: TaskDefinition
metadata: {name: deployment}
spec: {task: deployment, command: [sh, -c, 'echo deployed to $SEAWAY_STAGE']}
---
apiVersion: seaway.dev/v1
kind: TaskDefinition
metadata: {name: test}
spec:
  task: test
  command: [sh, -c, 'case $SEAWAY_VERSION in 2*) echo it is broken >&2; exit 1;; esac']
";

#[test]
fn a_version_goes_through_both_stages_and_a_broken_one_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir.path().join("data"));
    let shipyard = write(dir.path(), "shipyard.yaml", TWO_STAGES);
    let shipyard = shipyard.to_str().unwrap();

    let planned = server.fails(3, &["plan", "-f", shipyard]);
    assert_eq!(planned, "");
    server.ok(&["apply", "-f", shipyard]);
    server.ok(&["plan", "-f", shipyard]);

    let tasks = write(dir.path(), "tasks.yaml", TASKS);
    let worker = server.command(&["worker", "--project", "shop", "-f", tasks.to_str().unwrap()]);
    let worker = Process::start(worker);

    let trigger = |version: &'static str| {
        ["trigger", "shop", "dev.delivery", "--service", "cart", "--version", version, "--wait"]
    };
    server.ok(&trigger("1.0"));
    let broken = server.fails(1, &trigger("2.0"));
    assert!(broken.contains("it is broken"), "{broken}");

    let status = server.ok(&["status", "shop"]);
    let board: Vec<Vec<&str>> = status.lines().map(|it| it.split_whitespace().collect()).collect();
    assert_eq!(board[0], ["SERVICE", "dev", "prod"], "{status}");
    assert_eq!(board[1], ["cart", "1.0", "!", "2.0", "1.0"], "{status}");

    let why = server.ok(&["why", "shop"]);
    assert!(why.contains("nothing waits"), "{why}");
    let log = server.ok(&["log", "shop", "--limit", "1000"]);
    assert!(log.contains("shop/prod/delivery#1/deployment"), "{log}");

    assert_eq!(worker.stop(), Some(0));
    assert_eq!(server.process.stop(), Some(0));
    let data = dir.path().join("data");
    let verified = crate::harbor::seaway(&["log", "verify", "--data"]).arg(data).output().unwrap();
    assert!(verified.status.success());
}

#[test]
fn approvals_wait_for_a_person_and_are_named_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let text = TWO_STAGES.replace("{name: deployment}, {name: test}", "{name: approval}");
    let shipyard = write(dir.path(), "shipyard.yaml", &text);
    server.ok(&["apply", "-f", shipyard.to_str().unwrap()]);
    let started = server.ok(&[
        "trigger",
        "shop",
        "dev.delivery",
        "--service",
        "cart",
        "--version",
        "1.0",
        "-o",
        "json",
    ]);
    let started: serde_json::Value = serde_json::from_str(&started).unwrap();
    let id = started["deployment"].as_str().unwrap();
    let why = server.ok(&["why", id]);
    assert!(why.contains("waiting for approval"), "{why}");
    assert!(why.contains("a person who approves or rejects it"), "{why}");
    server.ok(&["approve", id, "--comment", "looks good"]);
    let why = server.ok(&["why", id]);
    assert!(why.contains("no executor for reserved task \"deployment\""), "{why}");
    let log = server.ok(&["log", "shop", "--limit", "1000", "-o", "json"]);
    assert!(log.contains("looks good"), "{log}");
    let again = server.fails(8, &["approve", id]);
    assert!(again.contains("approval"), "{again}");
}
