use std::path::Path;
use std::process::Command;

use crate::harbor::{Server, TWO_STAGES, skipped, write};

/// A Python with the packages that the tests need, which `cargo xtask test` sets up.
const PYTHON: &str = "SEAWAY_TEST_PYTHON";

fn python(what: &str) -> Option<String> {
    let found = std::env::var(PYTHON).ok();
    if found.is_none() {
        skipped(&format!("{what}; set {PYTHON} to a Python that has the packages for it"));
    }
    found
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/python").join(name)
}

#[test]
fn the_official_python_sdk_sends_events_in_all_forms() {
    let Some(python) = python("CloudEvents from the official SDK") else { return };
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir.path().join("data"));
    let shipyard = write(dir.path(), "shipyard.yaml", TWO_STAGES);
    server.ok(&["apply", "-f", shipyard.to_str().unwrap()]);
    let output = Command::new(python)
        .arg(script("cloudevents_client.py"))
        .env("SEAWAY_URL", &server.url)
        .env("SEAWAY_TOKEN", &server.token)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
fn whatever_schemathesis_sends_gets_an_answer_that_is_described() {
    let Some(python) = python("schemathesis against the OpenAPI") else { return };
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir.path().join("data"));
    let shipyard = write(dir.path(), "shipyard.yaml", TWO_STAGES);
    server.ok(&["apply", "-f", shipyard.to_str().unwrap()]);
    let output = Command::new(python)
        .arg(script("schemathesis_run.py"))
        .current_dir(dir.path())
        .env("SEAWAY_URL", &server.url)
        .env("SEAWAY_TOKEN", &server.token)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}");
    server.ok(&["status", "shop"]);
}
