use std::path::Path;
use std::process::Command;

use crate::harbor::{Process, Server, TWO_STAGES, write};

/// A block of code from a page, by the heading that it stands under.
fn code(page: &str, heading: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(path).expect("the page is there");
    let part = text.split_once(heading).expect("the heading is there").1;
    let block = part.split_once("```").expect("there is code").1;
    let block = block.split_once("```").expect("it ends").0;
    block.split_once('\n').expect("it has a first line").1.to_owned()
}

#[test]
fn the_executors_of_the_page_do_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir.path().join("data"));
    let shipyard = write(dir.path(), "shipyard.yaml", TWO_STAGES);
    server.ok(&["apply", "-f", shipyard.to_str().unwrap()]);
    let token = server.ok(&[
        "token",
        "create",
        "executors",
        "--scope",
        "execute",
        "--project",
        "shop",
        "-o",
        "json",
    ]);
    let token: serde_json::Value = serde_json::from_str(&token).unwrap();
    let token = token["secret"].as_str().unwrap();

    let python = write(dir.path(), "executor.py", &code("executors.md", "## In Python"));
    let shell = write(dir.path(), "executor.sh", &code("executors.md", "## In a shell"));
    let run = |program: &str, script: &Path| {
        let mut command = Command::new(program);
        command.arg(script).env("SEAWAY_URL", &server.url).env("SEAWAY_TOKEN", token);
        Process::start(command)
    };
    let mut python = run("python3", &python);
    let mut shell = run("sh", &shell);
    let trigger =
        ["trigger", "shop", "dev.delivery", "--service", "cart", "--version", "1.0", "--wait"];
    server.ok(&trigger);
    let log = server.ok(&["log", "shop", "--limit", "1000", "-o", "json"]);
    assert!(log.contains("cart 1.0 is fine"), "{log}");
    assert!(log.contains("https://example.com"), "{log}");
    assert!(python.is_running() && shell.is_running());
    python.signal("INT");
    shell.signal("TERM");
}
