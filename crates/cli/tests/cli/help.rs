use std::path::Path;

use crate::program::{golden, run};

/// Every command that speaks to a server, or keeps how to.
const COMMANDS: &[&[&str]] = &[
    &["apply"],
    &["plan"],
    &["get"],
    &["delete"],
    &["trigger"],
    &["status"],
    &["why"],
    &["log"],
    &["pause"],
    &["resume"],
    &["abort"],
    &["retry"],
    &["skip"],
    &["approve"],
    &["reject"],
    &["resource"],
    &["resource", "put"],
    &["resource", "get"],
    &["resource", "list"],
    &["resource", "rm"],
    &["webhook"],
    &["webhook", "list"],
    &["webhook", "deliveries"],
    &["webhook", "key"],
    &["token"],
    &["token", "create"],
    &["token", "list"],
    &["token", "revoke"],
    &["backup"],
    &["restore"],
    &["archive"],
    &["context"],
    &["context", "list"],
    &["context", "use"],
    &["context", "set"],
    &["context", "rm"],
    &["completion"],
];

#[test]
fn every_command_explains_itself() {
    let mut shown = String::new();
    for command in COMMANDS {
        let help = run(&[command, &["--help"][..]].concat()).ok();
        let wide = help.lines().find(|line| line.chars().count() > 120);
        assert_eq!(wide, None, "a line of {command:?} is too long to read");
        let leaf = command.len() > 1;
        assert!(leaf || help.contains("\nExamples:\n"), "{command:?} has no examples");
        shown.push_str(&format!("$ seaway {} --help\n{help}\n", command.join(" ")));
    }
    golden("help-commands", Path::new(""), &shown);
}

#[test]
fn a_shell_can_be_taught_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completion", shell]).ok();
        for word in ["trigger", "approve", "newest-first"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    assert_eq!(run(&["completion", "basic"]).code, 2);
}
