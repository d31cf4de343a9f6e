use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::program::{Ran, command, golden, ran, run};

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
    let silent = "steps: [{trigger: dev.delivery}]\nexecutors: [{name: jmeter, tasks: [test], \
                  answers: silent}]\nuntil: 1h\n";
    let changed = "steps: [{trigger: dev.delivery}, {at: 1m, shipyard: missing.yaml}]\n";
    for (name, text) in [
        ("shipyard.yaml", SHIPYARD),
        ("story.yaml", STORY),
        ("unmet.yaml", &unmet),
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
fn help_shows_how_a_scenario_looks() {
    golden("help-simulate", Path::new(""), &run(&["simulate", "--help"]).ok());
}
