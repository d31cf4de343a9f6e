//! Histories that once went wrong, each as small as it can be.

use seaway_kernel::{
    Actor, Command, Edit, Entry, Refusal, Sequence, StructureChange, StructureError, Task, Waiting,
    When,
};
use seaway_model::{Attempt, DeploymentId, Fact, Kind, Outcome};

use crate::harness::{Harness, group, name, over, sequence, stage, task};

/// Stages side by side, each with the same hosts, so that their runs meet there.
fn side_by_side(stages: &[&str], inner: &[Kind], hosts: &[&str]) -> Harness {
    let mut harness = Harness::new();
    let mut edits = Vec::new();
    for here in stages {
        edits.push(stage(here, &[]));
        edits.extend(group(here, "hosts", inner, hosts));
        edits.push(sequence(here, "delivery", vec![over("deployment", &["hosts"])]));
    }
    harness.change(edits).expect("the structure is allowed");
    harness
}

fn put_chain(stage: &str, inner: &[Kind]) -> Edit {
    let chain = [&[Kind::MemberStarted], inner, &[Kind::MemberFinished]].concat();
    Edit::PutGroup { stage: name(stage), group: name("hosts"), chain }
}

fn why(harness: &Harness, id: DeploymentId, path: &str, kind: Kind) -> Option<Waiting> {
    let waiting = harness.kernel.waiting(id, usize::MAX).into_iter();
    let step = harness.step(id, path, kind);
    waiting.filter(|it| it.step == step).map(|it| it.why).next()
}

#[test]
fn a_group_waits_for_a_link_in_flight_behind_one_that_failed() {
    let mut harness = side_by_side(&["beta"], &[Kind::MemberDeployed], &["h1"]);
    let id = harness.start("cart", "1");
    harness.settle();
    let host = "shop/beta/delivery#1/deployment/hosts/h1";
    harness
        .change(vec![put_chain("beta", &[Kind::ArtifactReplicated, Kind::MemberDeployed])])
        .expect("a step can be put before one in flight");
    harness.settle();
    harness.end(id, host, Kind::ArtifactReplicated, Outcome::Fail);
    assert_eq!(harness.ended(id), None, "something is still in flight");
    harness.end(id, host, Kind::MemberDeployed, Outcome::Pass);
    assert_eq!(harness.ended(id), Some(Fact::Failed));
}

#[test]
fn two_runs_that_failed_where_the_other_waits_do_not_wait_for_ever() {
    let mut harness = side_by_side(&["east", "west"], &[Kind::MemberDeployed], &["h1", "h2"]);
    let id = harness.start("cart", "1");
    harness.settle();
    let in_flight = harness.in_flight(id);
    assert_eq!(in_flight.len(), 2, "one run has both hosts: {in_flight:?}");
    for (path, kind) in in_flight {
        harness.end(id, &path, kind, Outcome::Fail);
    }
    harness.drain();
    assert_eq!(harness.ended(id), Some(Fact::Failed));
}

#[test]
fn a_paused_run_keeps_its_service_until_its_orphans_are_cancelled() {
    let mut harness = side_by_side(&["beta"], &[Kind::MemberDeployed], &["h1"]);
    let first = harness.start("cart", "1");
    harness.settle();
    let second = harness.start("cart", "2");
    harness.settle();
    harness.command(&Command::Pause { deployment: first }).expect("it runs");
    let members = vec![name("h1")];
    let gone = Edit::RemoveMembers { stage: name("beta"), group: name("hosts"), members };
    harness.change(vec![gone]).expect("members can leave");
    harness.settle();
    let at = |id: DeploymentId, line: &str| {
        let records = harness.log.iter().filter(|record| record.deployment == Some(id));
        let mut lines = records.map(|record| record.seq).zip(harness.lines(id));
        lines.find(|(_, it)| it == line).map(|(seq, _)| seq)
    };
    let orphan = "beta/delivery#1/deployment/hosts/h1 member-deployed cancelled (orphaned)";
    let cancelled = at(first, orphan).expect("the orphan is cancelled");
    let started = at(second, "beta/delivery#1 sequence-started").expect("the next one starts");
    assert!(cancelled < started);
}

#[test]
fn a_retry_counts_for_members_that_left_meanwhile() {
    let mut harness = side_by_side(&["west"], &[Kind::MemberDeployed], &["h9"]);
    let mut edits = vec![stage("beta", &[])];
    edits.extend(group("beta", "hosts", &[Kind::MemberDeployed], &["h1"]));
    let deployment = Task { when: When::Always, ..over("deployment", &["hosts"]) };
    edits.push(sequence("beta", "delivery", vec![task("prepare"), deployment]));
    harness.change(edits).expect("the structure is allowed");
    let id = harness.start("cart", "1");
    harness.settle();
    let (prepare, host) =
        ("shop/beta/delivery#1/prepare", "shop/beta/delivery#1/deployment/hosts/h1");
    harness.end(id, prepare, Kind::TaskDone, Outcome::Fail);
    harness.end(id, host, Kind::MemberDeployed, Outcome::Pass);

    let (stage, group, members) = (name("beta"), name("hosts"), vec![name("h1")]);
    let leaves = Edit::RemoveMembers {
        stage: stage.clone(),
        group: group.clone(),
        members: members.clone(),
    };
    harness.change(vec![leaves]).expect("members can leave");
    harness.settle();
    let step = harness.step(id, prepare, Kind::TaskDone);
    harness.command(&Command::Retry { step, data: None }).expect("what failed can be retried");
    harness.change(vec![Edit::AddMembers { stage, group, members }]).expect("and come back");
    harness.settle();
    harness.end(id, prepare, Kind::TaskDone, Outcome::Pass);
    let again = harness.last_dispatch(harness.step(id, host, Kind::MemberDeployed));
    assert_eq!(again.attempt, Attempt(2), "what it did before the retry no longer counts");
    harness.drain();
    harness.check_replay();
    assert_eq!(harness.ended(id), Some(Fact::Finished));
}

#[test]
fn what_waits_in_a_run_moves_once_the_run_has_its_service_back() {
    let mut harness = side_by_side(&["east", "west"], &[Kind::MemberDeployed], &["h1", "h2"]);
    let id = harness.start("cart", "1");
    harness.settle();
    // West waits for both hosts, gives its service up while paused and takes it again with one.
    harness.command(&Command::Pause { deployment: id }).expect("it runs");
    harness.settle();
    harness.command(&Command::Resume { deployment: id }).expect("it is paused");
    harness.settle();
    for host in ["h1", "h2"] {
        let path = format!("shop/east/delivery#1/deployment/hosts/{host}");
        harness.end(id, &path, Kind::MemberDeployed, Outcome::Pass);
        let path = format!("shop/west/delivery#1/deployment/hosts/{host}");
        assert_eq!(why(&harness, id, &path, Kind::MemberDeployed), Some(Waiting::Unclaimed));
    }
    harness.drain();
    assert_eq!(harness.ended(id), Some(Fact::Finished));
}

#[test]
fn names_that_a_store_or_a_reader_would_trip_over_are_refused() {
    let mut harness = side_by_side(&["beta"], &[], &[]);
    let start = |version: &str| Command::Start {
        deployment: DeploymentId(uuid::Uuid::from_u128(9)),
        service: name("cart"),
        version: version.into(),
        known: None,
    };
    for version in ["", "1\0", "1\n2", "\u{1b}[31m"] {
        assert_eq!(harness.command(&start(version)), Err(Refusal::BadVersion), "{version:?}");
    }
    for actor in ["", "seaway", "a\0b", &"a".repeat(201)] {
        let mut out = Vec::new();
        let refused =
            harness.kernel.decide(&start("1"), harness.now, &Actor::named(actor), &mut out);
        assert_eq!(refused, Err(Refusal::BadActor(actor.into())));
    }
}

#[test]
fn an_id_is_nobody_elses_name() {
    let mut harness = side_by_side(&["beta"], &[], &[]);
    let deploy = Task { id: Some(name("test")), ..task("deploy") };
    let definition =
        Sequence { tasks: vec![deploy, task("test")], range: None, ..Sequence::default() };
    let (stage, sequence) = (name("beta"), name("delivery"));
    let put = Edit::PutSequence { stage, sequence, definition };
    let refused = harness.command(&Command::ChangeStructure(StructureChange(vec![put])));
    let Err(Refusal::Structure(StructureError::DuplicateId { id, .. })) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(id.as_str(), "test");
}

#[test]
fn a_long_line_of_empty_stages_is_walked_without_deep_recursion() {
    let mut harness = Harness::new();
    let names: Vec<String> = (0..5_000).map(|number| format!("s{number}")).collect();
    let mut edits = Vec::new();
    for (number, here) in names.iter().enumerate() {
        let before: Vec<&str> = number.checked_sub(1).map(|it| &*names[it]).into_iter().collect();
        edits.push(stage(here, &before));
    }
    let mut out = Vec::new();
    let by = Actor::named("alice");
    let change = Command::ChangeStructure(StructureChange(edits));
    harness.kernel.decide(&change, harness.now, &by, &mut out).expect("the structure is allowed");
    let deployment = DeploymentId(uuid::Uuid::from_u128(9));
    let (service, version) = (name("cart"), "1".into());
    let start = Command::Start { deployment, service, version, known: None };
    harness.kernel.decide(&start, harness.now, &by, &mut out).expect("it can start");
    let _ = harness.kernel.tick(harness.now, 9_990, &mut out);
    let bytes = harness.kernel.checkpoint();
    let mut restored = seaway_kernel::Kernel::restore(&name("shop"), &bytes).expect("it is whole");
    let _ = restored.tick(harness.now, usize::MAX, &mut out);
    let last = out.last().map(|record| (record.kind, record.fact));
    assert_eq!(last, Some((Kind::PipelineFinished, Fact::Finished)));
}

#[test]
fn a_run_that_was_withdrawn_does_not_come_back_with_the_next_change() {
    let mut harness = Harness::new();
    let (stage, after, batch) = (name("dev"), Default::default(), None);
    let put = Edit::PutStage { stage, entry: Entry::Triggered, after, batch };
    let audit = || sequence("dev", "audit", vec![task("test")]);
    let delivery = sequence("dev", "delivery", vec![task("deployment")]);
    harness.change(vec![put, delivery, audit()]).expect("the structure is allowed");
    let deployment = harness.next_id();
    let trigger = Command::Trigger {
        deployment,
        stage: name("dev"),
        sequence: name("audit"),
        service: name("cart"),
        version: "1".into(),
        known: None,
        data: None,
    };
    harness.command(&trigger).expect("the sequence is there");
    // Both changes come before the scheduler has a turn.
    let gone = Edit::RemoveSequence { stage: name("dev"), sequence: name("audit") };
    harness.change(vec![gone]).expect("sequences can leave");
    harness.change(vec![audit()]).expect("and come back");
    harness.settle();
    let lines = harness.lines(deployment);
    let withdrawn = "dev/audit#1 sequence-finished cancelled (withdrawn)";
    assert!(lines.iter().any(|line| line == withdrawn), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("sequence-started")), "{lines:#?}");
    harness.check_replay();
}
