use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::program::{Ran, command, golden, ran, run, together, unread};

const SHIPYARD: &str = "\
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: dev
    sequences:
    - name: delivery
      tasks:
      - name: deployment
        properties: {deploymentstrategy: direct}
      - name: test
";

const STORY: &str = "\
executors:
- {name: jmeter, tasks: [test], takes: 5m, answers: [fail, pass]}
steps:
- {trigger: dev.delivery, service: cart, version: 1.0.0, as: first}
- {at: 10m, retry: dev.test}
expect:
- {deployment: first, result: pass}
";

fn files() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let unmet = STORY.replace("result: pass", "result: fail");
    let because = STORY.replace("result: pass", "result: open, because: offered");
    let silent = "steps: [{trigger: dev.delivery}]\nexecutors: [{name: jmeter, tasks: [test], \
                  answers: silent}]\nuntil: 1h\n";
    let changed = "steps: [{trigger: dev.delivery}, {at: 1m, shipyard: missing.yaml}]\n";
    for (name, text) in [
        ("shipyard.yaml", SHIPYARD),
        ("story.yaml", STORY),
        ("unmet.yaml", &unmet),
        ("because.yaml", &because),
        ("silent.yaml", silent),
        ("changed.yaml", changed),
        ("wrong.yaml", "steps: [{trigger: prod.delivery}]\n"),
        ("no-shipyard.yaml", "kind: Shipyard\n"),
    ] {
        fs::write(dir.path().join(name), text).expect("it is written");
    }
    dir
}

fn simulate(dir: &Path, args: &[&str]) -> Ran {
    let mut command = command(&["simulate", "-f"]);
    ran(command.args(args).current_dir(dir))
}

#[test]
fn a_scenario_is_played_and_its_expectations_decide() {
    let dir = files();
    let mut all = String::new();
    for args in [
        &["shipyard.yaml", "story.yaml", "--data"][..],
        &["shipyard.yaml", "unmet.yaml"],
        &["shipyard.yaml", "because.yaml"],
        &["shipyard.yaml", "silent.yaml"],
        &["shipyard.yaml", "silent.yaml", "--records"],
    ] {
        let shown = simulate(dir.path(), args).shown();
        all += &format!("$ seaway simulate -f {}\n{shown}\n\n", args.join(" "));
    }
    golden("simulate", dir.path(), all.trim_end());
}

#[test]
fn files_that_are_wrong_are_shown_as_lint_shows_them() {
    let dir = files();
    let mut all = String::new();
    for args in [
        ["shipyard.yaml", "wrong.yaml"],
        ["no-shipyard.yaml", "story.yaml"],
        ["shipyard.yaml", "changed.yaml"],
    ] {
        let shown = simulate(dir.path(), &args).shown();
        all += &format!("$ seaway simulate -f {}\n{shown}\n\n", args.join(" "));
    }
    golden("simulate-wrong", dir.path(), all.trim_end());
}

#[test]
fn machines_get_the_same_as_json() {
    let dir = files();
    let ran = simulate(dir.path(), &["shipyard.yaml", "story.yaml", "-o", "json"]).ok();
    let json: serde_json::Value = serde_json::from_str(&ran).expect("it is JSON");
    assert_eq!(json["ok"], true);
    assert_eq!(json["took"], "15m");
    assert_eq!(json["deployments"][0]["result"], "pass");
    assert_eq!(json["lines"][1]["run"], "dev.delivery#1");
    let unmet = simulate(dir.path(), &["shipyard.yaml", "unmet.yaml", "-o", "json"]);
    assert_eq!(unmet.code, 1);
    assert!(unmet.stdout.contains("\"ok\":false"), "{}", unmet.stdout);
}

#[test]
fn machines_are_told_what_is_wrong_with_a_file() {
    let dir = files();
    for (args, file) in [
        (["shipyard.yaml", "wrong.yaml"], "wrong.yaml"),
        (["no-shipyard.yaml", "story.yaml"], "no-shipyard.yaml"),
        (["shipyard.yaml", "changed.yaml"], "missing.yaml"),
    ] {
        let ran = simulate(dir.path(), &[&args[..], &["-o", "json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
        assert_eq!((ran.code, &json["ok"], &json["file"]), (1, &false.into(), &file.into()));
        let said = json["problems"][0]["line"] == 1 || json["unreadable"].is_string();
        assert!(said, "{}", ran.stdout);
    }
}

#[test]
fn the_verdict_stands_when_nobody_reads_on() {
    let dir = files();
    let simulate = |story| {
        let mut command = command(&["simulate", "-f", "shipyard.yaml", story]);
        command.current_dir(dir.path());
        command
    };
    let verdict = "error: unmet.yaml did not go as expected\n";
    assert_eq!(unread(&mut simulate("unmet.yaml")), (1, verdict.to_owned()));
    assert_eq!(unread(&mut simulate("story.yaml")), (0, String::new()));
    let shown = together(&mut simulate("unmet.yaml"));
    assert!(shown.ends_with(verdict), "{shown}");
}

/// Deployments that each go around a loop of triggers as often as they may.
#[test]
fn a_play_that_is_cut_off_did_not_go_well() {
    let dir = files();
    let again = "      triggeredOn: [dev.delivery.finished]\n      tasks:\n";
    let endless = SHIPYARD.replace("      tasks:\n", again);
    let steps = "- {at: +1s, trigger: dev.delivery}\n".repeat(80);
    fs::write(dir.path().join("endless.yaml"), endless).expect("it is written");
    fs::write(dir.path().join("long.yaml"), format!("steps:\n{steps}")).expect("it is written");
    let ran = simulate(dir.path(), &["endless.yaml", "long.yaml", "-o", "json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
    assert_eq!((&json["ok"], &json["stopped"]), (&false.into(), &"too-long".into()));
    let verdict = "error: long.yaml was cut off: a play writes at most 100000 records\n";
    assert!(ran.code == 1 && ran.stderr.ends_with(verdict), "{}", ran.stderr);
}

#[test]
fn help_shows_how_a_scenario_looks() {
    golden("help-simulate", Path::new(""), &run(&["simulate", "--help"]).ok());
}
