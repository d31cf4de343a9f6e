use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::program::{Ran, command, golden, ran};

const ID: &str = "00000000-0000-0000-0000-000000000001";

/// An address at which nobody answers.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    format!("http://{}", listener.local_addr().expect("it is bound"))
}

/// Runs in a directory of its own, whose configuration is `config.yaml`.
fn inside(dir: &Path, args: &[&str]) -> Ran {
    ran(command(args).current_dir(dir).env("SEAWAY_CONFIG", "config.yaml"))
}

fn files() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        fs::write(dir.path().join(name), text).expect("it is written");
    };
    write("shop.yaml", "apiVersion: seaway.dev/v1\nkind: Project\nmetadata: {name: shop}\n");
    write("bank.yml", "apiVersion: seaway.dev/v1\nkind: Project\nmetadata: {name: bank}\n");
    write("broken.txt", "kind: [Project\n");
    write("list.txt", "- a\n");
    write("empty.token", "\n");
    fs::create_dir(dir.path().join("none")).expect("it is made");
    dir
}

#[test]
fn commands_without_a_server_say_what_to_do() {
    let dir = files();
    let url = nobody();
    let mut shown = String::new();
    for args in [
        &["status"][..],
        &["why", ID],
        &["trigger", "shop", "dev.delivery", "--service", "cart", "--version", "1", "--wait"],
        &["apply", "-f", "shop.yaml"],
        &["plan", "-f", "shop.yaml", "-o", "json"],
        &["log", "shop", "-f"],
        &["token", "list"],
        &["abort", ID],
    ] {
        let answer = inside(dir.path(), &[args, &["--url", &url]].concat()).shown();
        shown.push_str(&format!("$ seaway {}\n{answer}\n\n", args.join(" ")));
    }
    golden("no-server", dir.path(), &shown.replace(&url, "http://127.0.0.1:1"));
}

#[test]
fn the_server_may_be_named_before_the_command_and_by_the_environment() {
    let dir = files();
    let url = nobody();
    let before = inside(dir.path(), &["--url", &url, "status", "shop"]);
    assert!(before.stderr.contains(&url), "{}", before.stderr);
    let mut status = command(&["status", "shop"]);
    let around = ran(status.current_dir(dir.path()).env("SEAWAY_URL", &url));
    assert_eq!(around.stderr, before.stderr);
    let after = inside(dir.path(), &["--url", "http://127.0.0.1:1", "status", "--url", &url]);
    assert!(after.stderr.contains(&url), "{}", after.stderr);
}

#[test]
fn what_cannot_be_meant_is_explained() {
    let dir = files();
    let mut shown = String::new();
    for args in [
        &["status", "--url", "localhost:8080"][..],
        &["status", "--context", "prod"],
        &["status", "--token", "a", "--token-file", "b"],
        &["status", "--token-file", "missing.token"],
        &["status", "--token-file", "empty.token"],
        &["status", "--token", "a\nb"],
        &["status", "--as-of", "yesterday"],
        &["status", "--watch", "-o", "json"],
        &["status", "-o", "xml"],
        &["why", "a/b"],
        &["trigger", "delivery", "--service", "cart", "--version", "1"],
        &["trigger", "dev.delivery", "--service", "cart"],
        &["trigger", "dev.delivery", "--service", "cart", "--version", "1", "--data", "users"],
        &["trigger", "dev.delivery", "--service", "cart", "--version", "1", "--data", "@list.txt"],
        &["trigger", "dev.delivery", "--service", "cart", "--version", "1", "--timeout", "5m"],
        &["trigger", "d.d", "--service", "c", "--version", "1", "--wait", "--timeout", "5"],
        &["apply"],
        &["apply", "-f", "missing.yaml"],
        &["apply", "-f", "none"],
        &["apply", "-f", "broken.txt"],
        &["apply", "-f", "."],
        &["apply", "-f", "shop.yaml", "--project", "bank"],
        &["get", "deployment", "cart"],
        &["get", "deployments", "--state", "lost"],
        &["skip", ID],
        &["pause", "cart"],
        &["log", "shop", "list"],
        &["log", "shop", "-f", "--data", "."],
        &["log", "shop", "-f", "--newest-first"],
        &["resource", "put", "a.yaml", "-f", "missing.yaml"],
        &["token", "create", "ci", "--scope", "write"],
        &["archive", "--before", "now"],
    ] {
        let answer = inside(dir.path(), args).shown();
        shown.push_str(&format!("$ seaway {}\n{answer}\n\n", args.join(" ").escape_debug()));
    }
    golden("wrong-usage", dir.path(), &shown);
}

#[test]
fn contexts_are_kept_in_the_configuration() {
    let dir = files();
    let url = nobody();
    let mut shown = String::new();
    for args in [
        &["context", "list"][..],
        &["context", "set", "home"],
        &["context", "set", "home", "--url", "home"],
        &["context", "set", "home", "--url", &url, "--token", "swy_1"],
        &["context", "set", "prod", "--url", "https://seaway.example", "--project", "shop"],
        &["context", "set", "prod", "--token-file", "prod.token"],
        &["context", "list"],
        &["context", "list", "-o", "json"],
        &["context", "use", "play"],
        &["context", "use", "prod"],
        &["context", "use", "home"],
        &["status", "shop"],
        &["context", "rm", "home"],
        &["context", "list", "-o", "yaml"],
    ] {
        let answer = inside(dir.path(), args).shown();
        shown.push_str(&format!("$ seaway {}\n{answer}\n\n", args.join(" ")));
    }
    let file = dir.path().join("config.yaml");
    let kept = fs::read_to_string(&file).expect("it was written");
    shown.push_str(&format!("config.yaml:\n{kept}"));
    golden("contexts", dir.path(), &shown.replace(&url, "http://127.0.0.1:1"));
    let mode = file.metadata().expect("it was written").permissions().mode();
    assert_eq!(mode & 0o077, 0, "nobody else can read the tokens");
    fs::write(&file, "contexts: {home: {ulr: x}}\n").expect("it is written");
    let broken = inside(dir.path(), &["status"]);
    assert!(broken.stderr.contains("config.yaml:1:19: `ulr` is not a key"), "{}", broken.stderr);
}
