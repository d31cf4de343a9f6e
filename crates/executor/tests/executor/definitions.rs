use std::fs;
use std::path::PathBuf;

use seaway_executor::{Definitions, Program};
use seaway_shipyard::Severity;

const GOOD: &str = r#"apiVersion: seaway.dev/v1
kind: TaskDefinition
metadata: {name: load}
spec:
  task: test
  stages: [beta, prod]
  services: [cart]
  matchExpressions:
  - {key: suite, operator: In, values: [load, 1]}
  command: ["./test.sh", "--users", "{{ test.users }}"]
  env: {LEVEL: debug}
  timeout: 90s
  grace: 500ms
  outputLimit: 64KiB
  inheritEnv: true
---
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec: {stages: []}
---
apiVersion: seaway.dev/v1
kind: TaskDefinition
metadata: {name: deploy}
spec: {task: deployment, command: [kubectl, apply], workDir: scripts}
"#;

const WRONG: &str = r#"apiVersion: seaway.dev/v1
kind: TaskDefinition
metadata: {name: load}
spec:
  task: a.b
  comand: [x]
  env: {1A: b, SEAWAY_KEY: c, OK: "{{"}
  timeout: soon
  outputLimit: 1GB
---
apiVersion: seaway.dev/v2
kind: TaskDefinitoin
metadata: {}
spec:
  task: test
  command: ./test.sh --users {{ test.users }}
  matchExpressions: [{key: a, operator: In}, {key: b, operator: Exists, values: [c]}]
---
apiVersion: seaway.dev/v1
kind: TaskDefinition
metadata: {name: other}
spec: {task: test, command: ["{{ test.program }}", "{{.State}}"]}
"#;

#[test]
fn a_directory_is_read_with_everything_below_it() {
    let dir = tempfile::tempdir().unwrap();
    let below = dir.path().join("more");
    fs::create_dir_all(below.join("scripts")).unwrap();
    fs::write(below.join("test.sh"), "").unwrap();
    fs::write(below.join("all.yaml"), GOOD).unwrap();
    fs::write(dir.path().join(".hidden.yaml"), WRONG).unwrap();
    fs::write(dir.path().join("notes.txt"), WRONG).unwrap();
    let definitions = Definitions::load(&[dir.path().to_owned()]).unwrap();
    assert!(definitions.warnings().is_empty(), "{:?}", definitions.warnings());
    let [load, deploy] = definitions.all() else { panic!("there are two") };
    assert_eq!(load.program, Program::File(below.join("test.sh")));
    assert_eq!((load.timeout.as_secs(), load.grace.as_millis()), (90, 500));
    assert_eq!((load.output_limit, load.inherit_env), (65_536, true));
    assert_eq!(load.subscription.match_expressions[0].values, ["load", "1"]);
    assert_eq!(deploy.program, Program::Word("kubectl".to_owned()));
    assert_eq!(deploy.work_dir.as_deref(), Some(&*below.join("scripts")));
    assert_eq!((deploy.timeout.as_secs(), deploy.output_limit), (600, 1 << 20));
    assert_eq!(definitions.subscriptions().len(), 2);
}

#[test]
fn all_problems_of_all_files_are_told_with_their_places() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.yaml"), GOOD).unwrap();
    fs::write(dir.path().join("b.yml"), WRONG).unwrap();
    fs::write(dir.path().join("c.yaml"), "a: [").unwrap();
    let missing = PathBuf::from("no-such-file.yaml");
    let error = Definitions::load(&[dir.path().to_owned(), missing]).unwrap_err();
    assert_eq!(error.unreadable.len(), 1);
    let errors = error.each().filter(|(_, it)| it.severity == Severity::Error);
    let told: Vec<String> = errors
        .map(|(file, it)| {
            let file = file.rsplit('/').next().unwrap_or_default();
            format!("{file}:{}:{} {}", it.at.line, it.at.column, it.code)
        })
        .collect();
    assert_eq!(
        told,
        [
            "b.yml:5:3 missing-key",
            "b.yml:5:9 invalid-name",
            "b.yml:6:3 unknown-key",
            "b.yml:7:9 invalid-name",
            "b.yml:7:16 wrong-value",
            "b.yml:7:35 wrong-value",
            "b.yml:8:12 duration",
            "b.yml:9:16 wrong-value",
            "b.yml:11:13 wrong-value",
            "b.yml:12:7 wrong-value",
            "b.yml:13:11 missing-key",
            "b.yml:16:12 wrong-type",
            "b.yml:17:23 wrong-value",
            "b.yml:17:47 wrong-value",
            "b.yml:22:30 wrong-value",
            "b.yml:22:52 wrong-value",
            "c.yaml:1:4 yaml-syntax",
        ]
    );
    let plain = error.plain();
    for part in ["did you mean `command`?", "did you mean `TaskDefinition`?", "no-such-file.yaml"] {
        assert!(plain.contains(part), "{part:?} is missing in\n{plain}");
    }
}

#[test]
fn a_name_is_given_once_and_a_missing_script_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.yaml"), dir.path().join("b.yaml"));
    fs::write(&a, GOOD).unwrap();
    fs::write(&b, GOOD).unwrap();
    let definitions = Definitions::load(std::slice::from_ref(&a)).unwrap();
    let warnings: Vec<String> =
        definitions.warnings().iter().map(|it| it.plain().to_string()).collect();
    assert!(warnings.concat().contains("a.yaml:10:13: warning"), "{warnings:?}");
    assert!(warnings.concat().contains("there is no directory"), "{warnings:?}");
    let error = Definitions::load(&[a, b]).unwrap_err();
    let twice = error.each().filter(|(file, it)| {
        file.ends_with("b.yaml") && it.message.contains("already a definition")
    });
    assert_eq!(twice.count(), 2);
    let nothing = tempfile::tempdir().unwrap();
    let error = Definitions::load(&[nothing.path().to_owned()]).unwrap_err();
    assert!(error.to_string().starts_with("there is no TaskDefinition here"), "{error}");
}
