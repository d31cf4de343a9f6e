use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;

use crate::program::{Ran, command, golden, ran, run, together, unread};

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

const TYPOS: &str = "\
apiVersion: spec.keptn.sh/0.1.7
stages:
- name: dev
  test_stratgy: performance
- name: prod
  approval_strategy: {pass: manual}
";
const NEW_FORM: &str = "\
apiVersion: spec.keptn.sh/0.1.7
kind: Shipyard
spec: {stages: [{name: dev}]}
";

/// A directory with a file of each kind.
fn files() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let files = [
        ("shop.yaml", SHOP.as_bytes()),
        ("old.yaml", OLD.as_bytes()),
        ("lenient.yaml", LENIENT.as_bytes()),
        ("wrong.yaml", WRONG.as_bytes()),
        ("typos.yaml", TYPOS.as_bytes()),
        ("new-form.yaml", NEW_FORM.as_bytes()),
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
        &["migrate", "typos.yaml", "--output", "-"],
        &["migrate", "typos.yaml", "--output", "typos-new.yaml"],
        &["migrate", "new-form.yaml"],
        &["lint", "new-form.yaml"],
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
    let printed = inside(dir.path(), &["migrate", "old.yaml"]).stdout;
    assert_eq!(piped(&["migrate", "-"], OLD).stdout, printed);
    assert_eq!(inside(dir.path(), &["migrate", "old.yaml", "-o", "-"]).stdout, printed);
    assert!(!dir.path().join("-").exists());
    let summary = piped(&["lint", "--strict", "-"], &printed).ok();
    assert_eq!(summary, "-: ok, 3 stages, 6 sequences, 15 tasks\n");
    for file in ["new.yaml", "shop.yaml"] {
        let written = inside(dir.path(), &["migrate", "old.yaml", "--output", file, "--force"]);
        assert_eq!((written.code, &*written.stdout), (0, ""), "{}", written.stderr);
        assert_eq!(fs::read_to_string(dir.path().join(file)).expect("it is there"), printed);
    }
}

#[test]
fn the_verdict_stands_when_nobody_reads_on() {
    let dir = files();
    let lint = |files: &[&str]| {
        let mut command = command(&["lint"]);
        command.args(files).current_dir(dir.path());
        command
    };
    let (code, stderr) = unread(&mut lint(&["wrong.yaml", "shop.yaml"]));
    assert_eq!((code, &*stderr), (1, "error: 1 of 2 files do not pass\n"));
    assert_eq!(unread(&mut lint(&["shop.yaml"])), (0, String::new()));
    let shown = together(&mut lint(&["wrong.yaml"]));
    assert!(shown.ends_with("\nerror: wrong.yaml does not pass\n"), "{shown}");
}

#[test]
fn more_problems_than_are_shown_are_not_counted_as_all() {
    let stages: String =
        (0..700).map(|it| format!("  - {{name: s{it}, colour: blue}}\n")).collect();
    let text = format!(
        "apiVersion: seaway.dev/v1\nkind: Shipyard\nmetadata: {{name: x}}\nspec:\n  stages:\n\
         {stages}"
    );
    let shown = piped(&["lint", "-"], &text);
    assert!(shown.stdout.ends_with("\n-: at least 501 errors\n"), "{}", shown.stdout);
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
