use std::fmt::Write;

use seaway_shipyard::reading::{Report, Subject, read_all};
use seaway_shipyard::{Code, limits, parse};

const HEAD: &str =
    "apiVersion: seaway.dev/v1\nkind: Shipyard\nmetadata: {name: x}\nspec:\n  stages:\n";

#[track_caller]
fn refused(text: &str, code: Code, limit: &str) {
    let problems = parse(text, "x.yaml").expect_err("it is too large");
    let said = problems.all().iter().find(|it| it.code == code).expect("the limit is named");
    assert!(said.message.contains(limit), "{}", said.message);
}

fn stages(count: usize) -> String {
    (0..count).map(|number| format!("  - name: s{number}\n")).collect()
}

fn with_sequence(inside: &str) -> String {
    format!("{HEAD}  - name: a\n    sequences:\n    - name: a\n{inside}")
}

#[test]
fn what_is_larger_than_allowed_is_refused() {
    refused(&" ".repeat(limits::TEXT_BYTES + 1), Code::TooLarge, "1 MiB");
    let deep = limits::DEPTH + 1;
    refused(&format!("{}{}", "[".repeat(deep), "]".repeat(deep)), Code::TooLarge, "32 deep");
    refused(&"- ".repeat(deep), Code::TooLarge, "32 deep");
    // Deep enough that the parser itself gives up.
    refused(&"[".repeat(2_000), Code::TooLarge, "32 deep");
    refused(&"- a\n".repeat(limits::NODES), Code::TooLarge, "50000 values");
    assert!(parse(&format!("{HEAD}{}", stages(limits::STAGES)), "x.yaml").is_ok());
    refused(&format!("{HEAD}{}", stages(limits::STAGES + 1)), Code::TooLarge, "1000 are the most");
    let tasks = |count| with_sequence(&format!("      tasks: [{}]\n", "{name: t},".repeat(count)));
    assert!(parse(&tasks(limits::TASKS), "x.yaml").is_ok());
    refused(&tasks(limits::TASKS + 1), Code::TooLarge, "1000 are the most");
    let mut triggers = String::from("      tasks: [{name: t}]\n      triggeredOn:\n");
    for number in 0..=limits::TRIGGERS {
        writeln!(triggers, "      - x.y{number}").expect("it is memory");
    }
    refused(&with_sequence(&triggers), Code::TooLarge, "100 are the most");
    let sequences = "{name: s, tasks: [{name: t}]},".repeat(limits::SEQUENCES + 1);
    let sequences = format!("{HEAD}  - name: a\n    sequences: [{sequences}]\n");
    refused(&sequences, Code::TooLarge, "100 are the most");
}

#[test]
fn aliases_cannot_blow_up_a_text() {
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), "*a,".repeat(1_000));
    refused(&long, Code::TooLarge, "4 MiB");
    let anchors: String = (0..30).map(|number| format!("&a{number} [")).collect();
    let nested = format!("{anchors}{}{}", "x,".repeat(10_000), "]".repeat(30));
    refused(&nested, Code::TooLarge, "50000 values");
}

#[test]
fn the_documents_of_a_text_are_bounded_together() {
    const SUBJECT: Subject = Subject { what: "document", begin: "a: b" };
    let read = |text: &str| {
        let mut report = Report::new(text);
        let found = read_all(text, SUBJECT, &mut report).map(|it| it.len());
        (found, report.into_problems().first().map(|it| it.code))
    };
    assert_eq!(read("a: 1\n---\n# nothing\n---\nb: &b 2\nc: *b\n"), (Some(2), None));
    assert_eq!(read("---\n---\n"), (Some(0), Some(Code::Empty)));
    let one = format!("a: &a [{}]\nb: [*a, *a]\n---\n", "x,".repeat(1_000));
    assert_eq!(read(&one.repeat(10)).0, Some(10));
    assert_eq!(read(&one.repeat(20)), (None, Some(Code::TooLarge)));
}

#[test]
fn a_file_full_of_problems_is_answered_soon_and_shortly() {
    let triggers = "      - stage-0.delivery.finished\n".repeat(limits::TRIGGERS);
    let sequence =
        format!("    - name: a\n      tasks: [{{name: t}}]\n      triggeredOn:\n{triggers}");
    let stage = |number| format!("  - name: stage-{number}\n    sequences:\n{sequence}");
    let stages: String = (0..250).map(stage).collect();
    let problems =
        parse(&format!("{HEAD}{stages}"), "x.yaml").expect_err("there is no such sequence");
    assert_eq!(problems.all().len(), limits::PROBLEMS + 1);
    assert!(problems.are_cut());
    let last = problems.all().last().expect("there are some");
    assert_eq!(last.code, Code::TooManyProblems);
    assert!(last.message.starts_with("24500 more"), "{}", last.message);
}
