//! Documents, services and structure change together or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_kernel::{
    Command, DocumentEdit, Refusal, Reply, Sequence, Services, Stage, Structure, Task,
};
use seaway_model::{Digest, Fact, Kind, Seq};

use crate::harness::{Harness, name, task};

fn put(kind: &str, name: &str, digest: u8) -> DocumentEdit {
    DocumentEdit { kind: kind.into(), name: name.into(), digest: Some(Digest([digest; 32])) }
}

fn remove(kind: &str, name: &str) -> DocumentEdit {
    DocumentEdit { kind: kind.into(), name: name.into(), digest: None }
}

fn only(names: &[&str], auto: bool) -> Option<Services> {
    Some(Services { auto, names: names.iter().map(|it| name(it)).collect() })
}

fn structure(stages: &[(&str, &[&str])]) -> Structure {
    let stage = |after: &[&str]| {
        let tasks: Vec<Task> = vec![task("deploy")];
        let delivery = Sequence { tasks, ..Sequence::default() };
        Arc::new(Stage {
            after: after.iter().map(|it| name(it)).collect::<BTreeSet<_>>(),
            sequences: BTreeMap::from([(name("delivery"), Arc::new(delivery))]),
            ..Stage::default()
        })
    };
    Structure { stages: stages.iter().map(|(text, after)| (name(text), stage(after))).collect() }
}

fn apply(
    harness: &mut Harness,
    structure: Option<Structure>,
    services: Option<Services>,
    documents: Vec<DocumentEdit>,
) -> Result<Reply, Refusal> {
    harness.command(&Command::Apply { structure, services, documents })
}

fn known(harness: &Harness) -> Vec<(String, String, u8, Seq)> {
    let known = harness.kernel.documents();
    known.map(|(kind, name, digest, at)| (kind.into(), name.into(), digest.0[0], at)).collect()
}

#[test]
fn documents_and_structure_change_with_records_side_by_side() {
    let mut harness = Harness::new();
    let documents = vec![put("Shipyard", "shop", 1), put("resource", "slo.yaml", 2)];
    let pipeline = structure(&[("dev", &[]), ("prod", &["dev"])]);
    let applied = apply(&mut harness, Some(pipeline.clone()), only(&["cart"], false), documents);
    assert_eq!(applied, Ok(Reply::Done { at: Seq(2) }));
    let facts: Vec<_> = harness.log.iter().map(|it| (it.kind, it.fact)).collect();
    let expected = [(Kind::Documents, Fact::Changed), (Kind::Structure, Fact::StructureChanged)];
    assert_eq!(facts, expected);
    assert_eq!(*harness.kernel.structure(), pipeline);
    let slo = ("resource".into(), "slo.yaml".into(), 2, Seq(1));
    assert_eq!(known(&harness), [("Shipyard".into(), "shop".into(), 1, Seq(1)), slo.clone()]);
    assert_eq!(harness.kernel.document("resource", "slo.yaml"), Some((Digest([2; 32]), Seq(1))));
    assert_eq!(harness.kernel.document("resource", "sli.yaml"), None);

    let documents = vec![put("Shipyard", "shop", 3), remove("resource", "slo.yaml")];
    let applied = apply(&mut harness, None, only(&["cart"], false), documents);
    assert_eq!(applied, Ok(Reply::Done { at: Seq(3) }));
    assert_eq!(known(&harness), [("Shipyard".into(), "shop".into(), 3, Seq(3))]);
    harness.check_replay();
    harness.restart();
    assert_eq!(known(&harness), [("Shipyard".into(), "shop".into(), 3, Seq(3))]);
    assert_eq!(harness.kernel.services(), only(&["cart"], false).as_ref());
}

#[test]
fn what_changes_nothing_writes_nothing() {
    let mut harness = Harness::new();
    let pipeline = || Some(structure(&[("dev", &[])]));
    let documents = || vec![put("Shipyard", "shop", 1), remove("Webhook", "never-was")];
    let services = || only(&["cart"], true);
    apply(&mut harness, pipeline(), services(), documents()).expect("it is sound");
    let records = harness.log.len();
    let again = apply(&mut harness, pipeline(), services(), documents());
    assert_eq!(again, Ok(Reply::Done { at: Seq(records as u64) }));
    assert_eq!(harness.log.len(), records);
    // Only what is new is in the next record.
    let more = vec![put("Shipyard", "shop", 1), put("Webhook", "chat", 2)];
    apply(&mut harness, pipeline(), services(), more).expect("it is sound");
    assert_eq!(harness.log.len(), records + 1);
    let at: Vec<Seq> = known(&harness).into_iter().map(|(_, _, _, at)| at).collect();
    assert_eq!(at, [Seq(1), Seq(records as u64 + 1)]);
}

#[test]
fn a_change_that_is_refused_leaves_everything_as_it_was() {
    let mut harness = Harness::new();
    let sound = structure(&[("dev", &[])]);
    apply(&mut harness, Some(sound), only(&["cart"], false), vec![put("Shipyard", "shop", 1)])
        .expect("it is sound");
    let before = (harness.kernel.digest(), harness.log.len());
    let circle = structure(&[("a", &["b"]), ("b", &["a"])]);
    let long = "x".repeat(Refusal::MAX_DOCUMENT_NAME + 1);
    let many = (0..=Refusal::MAX_SERVICES).map(|number| name(&format!("s{number}"))).collect();
    let edits = vec![put("Shipyard", "shop", 2)];
    let refused = [
        apply(&mut harness, Some(circle), None, edits.clone()),
        apply(&mut harness, None, None, vec![edits[0].clone(), put("Webhook", &long, 1)]),
        apply(&mut harness, None, None, vec![put("", "shop", 1)]),
        apply(&mut harness, None, Some(Services { auto: false, names: many }), edits),
    ];
    let expected = |answer: &Result<Reply, Refusal>| match answer {
        Err(Refusal::Structure(_)) => "structure",
        Err(Refusal::BadDocument(_)) => "name",
        Err(Refusal::TooManyDocuments) => "many",
        _ => "something else",
    };
    assert_eq!(refused.each_ref().map(expected), ["structure", "name", "name", "many"]);
    assert_eq!((harness.kernel.digest(), harness.log.len()), before);
}

#[test]
fn a_document_that_is_there_twice_is_named() {
    let mut harness = Harness::new();
    let edits = vec![
        put("Webhook", "chat", 1),
        put("Webhook", "mail", 1),
        remove("Webhook", "chat"),
        put("Webhook", "pager", 1),
    ];
    let refused = apply(&mut harness, None, None, edits);
    assert_eq!(refused, Err(Refusal::DocumentTwice("chat".into())));
    let same_name = vec![put("Webhook", "chat", 1), put("Task", "chat", 1)];
    apply(&mut harness, None, None, same_name).expect("kinds have names of their own");
}

#[test]
fn a_project_that_is_full_takes_changes_and_no_additions() {
    let mut harness = Harness::new();
    let all = (0..Refusal::MAX_DOCUMENTS).map(|number| put("resource", &format!("f{number}"), 1));
    apply(&mut harness, None, None, all.collect()).expect("it is just enough");
    let more = vec![put("resource", "one-more", 1)];
    assert_eq!(apply(&mut harness, None, None, more), Err(Refusal::TooManyDocuments));
    apply(&mut harness, None, None, vec![put("resource", "f7", 2)]).expect("it is there already");
    let swap = vec![put("resource", "one-more", 1), remove("resource", "f8")];
    apply(&mut harness, None, None, swap).expect("one for the other");
    let missing = vec![put("resource", "another", 1), remove("resource", "f8")];
    assert_eq!(apply(&mut harness, None, None, missing), Err(Refusal::TooManyDocuments));
}

#[test]
fn services_that_are_not_part_of_the_project_are_refused_with_a_hint() {
    let mut harness = Harness::new();
    let pipeline = Some(structure(&[("dev", &[])]));
    apply(&mut harness, pipeline, only(&["cart", "web"], false), Vec::new()).expect("it is sound");
    let start = |harness: &mut Harness, service: &str| {
        let deployment = harness.next_id();
        let (service, version) = (name(service), "1".into());
        harness.command(&Command::Start { deployment, service, version, known: None })
    };
    start(&mut harness, "cart").expect("it is part of the project");
    let refused = start(&mut harness, "crat").expect_err("it is not part of the project");
    let hint = "service crat is not part of the project, which has cart, web; add it to the \
        Project document and apply that, or set autoServices there";
    assert_eq!(refused.to_string(), hint);
    let deployment = harness.next_id();
    let event = Command::Happen {
        deployment,
        name: "problem.open".into(),
        stage: None,
        service: name("crat"),
        version: "1".into(),
        known: None,
        data: None,
    };
    assert!(harness.command(&event).is_err());
    assert!(!harness.kernel.takes(&name("crat")) && harness.kernel.takes(&name("web")));

    apply(&mut harness, None, only(&["cart", "web"], true), Vec::new()).expect("it is sound");
    start(&mut harness, "crat").expect("others are welcome");
    apply(&mut harness, None, only(&[], false), Vec::new()).expect("it is sound");
    let refused = start(&mut harness, "cart").expect_err("there are no services at all");
    assert!(refused.to_string().starts_with("service cart is not part of the project; add it"));
    apply(&mut harness, None, None, Vec::new()).expect("it is sound");
    start(&mut harness, "anything").expect("nobody says which services there are");
    harness.settle();
    harness.check_replay();
}
