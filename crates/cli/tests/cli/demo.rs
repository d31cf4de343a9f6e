use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{command, log, ran};

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).expect("it is there").next().is_none()
}

#[test]
fn the_demo_tells_its_story_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let said = ran(command(&["demo"]).env("TMPDIR", temporary.path())).ok();
    for part in [
        "cart 1.1       test of staging.delivery failed: 3 of 40 requests were answered with 500",
        "cart 1.1       rollback of staging.rollback passed: cart is back at 1.0",
        "cart 1.2 (revision 5) at shop/prod/delivery#1/approval\n  waiting for approval\n",
        "  paused by admin\n",
        "cart     1.2  1.2      1.0 > 1.2\n",
        "payment  2.7  2.7      2.7\n",
        "The log is intact: ",
    ] {
        assert!(said.contains(part), "{part:?} is missing in\n{said}");
    }
    assert!(said.ends_with("Done, and everything is removed.\n"), "{said}");
    assert!(is_empty(temporary.path()));
}

#[test]
fn a_signal_ends_the_demo_cleanly() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let mut child = command(&["demo"])
            .env("TMPDIR", temporary.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built for this test");
        let mut said = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let begins = |line: &str| line.contains("delivery started");
        let started = said.find(|line| line.as_ref().is_ok_and(|line| begins(line)));
        assert!(started.is_some(), "it delivers something");
        assert!(!is_empty(temporary.path()), "it is in the middle of it");
        let pid = child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.expect("there is a kill program").success());
        assert!(said.all(|line| line.is_ok()), "it goes on writing until it ends");
        let output = child.wait_with_output().expect("it was started here");
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(output.stderr, b"error: interrupted\n");
        assert!(is_empty(temporary.path()), "nothing is left after {signal}");
    }
}

#[test]
fn a_demo_that_is_kept_can_be_looked_at() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let kept = dir.path().join("kept");
    ran(command(&["demo", "--keep"]).arg(&kept)).ok();
    let verified = log(&kept, &["verify"]).ok();
    assert!(verified.starts_with("the log of shop is intact: "), "{verified}");
    let again = ran(command(&["demo", "--keep"]).arg(&kept));
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(again.stderr.contains("is not empty"), "{}", again.stderr);
}
