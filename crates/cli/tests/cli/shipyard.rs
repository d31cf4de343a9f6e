use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;

use crate::program::{Ran, command, golden, ran, run};

const SHOP: &str = include_str!("../../../shipyard/tests/files/keptn-shop.yaml");
const OLD: &str = include_str!("../../../shipyard/tests/files/seed-old.yaml");
const LENIENT: &str = "\
version: 0.2.0
kind: Shipyard
spec:
  stages:
  - name: dev
    colour: blue
";
const WRONG: &str = "\
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: beta
    sequences:
    - name: delivery
      triggerdOn:
      - event: build.delivery.finished
      tasks: []
    - name: delivery
      tasks: [{name: deploy}]
";

/// A directory with a file of each kind.
fn files() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let files = [
        ("shop.yaml", SHOP.as_bytes()),
        ("old.yaml", OLD.as_bytes()),
        ("lenient.yaml", LENIENT.as_bytes()),
        ("wrong.yaml", WRONG.as_bytes()),
        ("binary.yaml", b"kind: \xff"),
    ];
    for (name, text) in files {
        fs::write(dir.path().join(name), text).expect("it is written");
    }
    dir
}

fn inside(dir: &Path, args: &[&str]) -> Ran {
    ran(command(args).current_dir(dir))
}

fn piped(args: &[&str], text: &str) -> Ran {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built for this test");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it was started here");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    let code = output.status.code().expect("it ended by itself");
    Ran { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn lint_says_what_is_wrong_with_files() {
    let dir = files();
    let mut shown = String::new();
    for args in [
        &["lint", "shop.yaml"][..],
        &["lint", "lenient.yaml"],
        &["lint", "lenient.yaml", "--strict"],
        &["lint", "wrong.yaml", "old.yaml", "shop.yaml"],
        &["lint", "nothing.yaml", ".", "binary.yaml", "shop.yaml"],
        &["lint", "wrong.yaml", "nothing.yaml", "shop.yaml", "-o", "json"],
        &["lint"],
        &["lint", "--schema", "shop.yaml"],
        &["migrate", "shop.yaml"],
        &["migrate", "wrong.yaml"],
        &["migrate", "old.yaml", "--output", "shop.yaml"],
        &["migrate", "old.yaml", "--force"],
    ] {
        let answer = inside(dir.path(), args).shown();
        shown.push_str(&format!("$ seaway {}\n{answer}\n\n", args.join(" ")));
    }
    golden("shipyard", dir.path(), &shown);
    assert_eq!(fs::read_to_string(dir.path().join("shop.yaml")).expect("it is there"), SHOP);
}

#[test]
fn what_migrate_prints_passes_lint() {
    let dir = files();
    let printed = inside(dir.path(), &["migrate", "old.yaml"]).ok();
    assert_eq!(piped(&["migrate", "-"], OLD).ok(), printed);
    let summary = piped(&["lint", "--strict", "-"], &printed).ok();
    assert_eq!(summary, "-: ok, 3 stages, 6 sequences, 15 tasks\n");
    for file in ["new.yaml", "shop.yaml"] {
        inside(dir.path(), &["migrate", "old.yaml", "--output", file, "--force"]).ok();
        assert_eq!(fs::read_to_string(dir.path().join(file)).expect("it is there"), printed);
    }
}

#[test]
fn an_endless_input_is_refused() {
    let endless = ran(command(&["lint", "-o", "json", "/dev/zero"]).stdin(Stdio::null()));
    assert_eq!(endless.code, 1);
    assert!(endless.stdout.contains("larger than 1 MiB"), "{}", endless.stdout);
}

#[test]
fn lint_and_migrate_explain_themselves() {
    let shown = format!("{}\n{}", run(&["lint", "--help"]).ok(), run(&["migrate", "--help"]).ok());
    golden("help-shipyard", Path::new(""), &shown);
    let stored = include_str!("../../../../schemas/shipyard.json");
    assert_eq!(run(&["lint", "--schema"]).ok(), stored);
}
