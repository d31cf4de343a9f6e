//! Histories that once went wrong, each as small as it can be.

use seaway_kernel::{
    Actor, Command, Edit, Entry, Event, On, Refusal, Reply, Report, Selector, Sequence, Step,
    StructureChange, StructureError, Subscription, Task, Trigger, Waiting, When,
};
use seaway_model::{Attempt, DeploymentId, ExecutorName, Fact, Kind, Outcome, Span};

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
    let bytes = harness.kernel.checkpoint().1;
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

fn triggered(here: &str) -> Edit {
    let (stage, after, batch) = (name(here), Default::default(), None);
    Edit::PutStage { stage, entry: Entry::Triggered, after, batch }
}

fn put(stage: &str, sequence: &str, definition: Sequence) -> Edit {
    Edit::PutSequence { stage: name(stage), sequence: name(sequence), definition }
}

fn trigger(deployment: DeploymentId, stage: &str, sequence: &str) -> Command {
    Command::Trigger {
        deployment,
        stage: name(stage),
        sequence: name(sequence),
        service: name("cart"),
        version: "1".into(),
        known: None,
        data: None,
    }
}

fn happens(deployment: DeploymentId, event: &str, data: &str) -> Command {
    Command::Happen {
        deployment,
        name: event.into(),
        stage: None,
        service: name("cart"),
        version: "1".into(),
        known: None,
        data: Some(data.into()),
    }
}

fn on(events: &[&str]) -> Vec<Trigger> {
    let mut events = events.iter().map(|event| Event::Domain((*event).into()));
    let on = match events.len() {
        1 => On::Event(events.next().expect("there is one")),
        _ => On::All(events.collect()),
    };
    vec![Trigger { on, selector: Selector::default() }]
}

/// Somebody who does every task that is named.
fn hire(harness: &mut Harness, tasks: &[&str]) {
    let subscriptions = tasks.iter().map(|task| Subscription {
        task: name(task),
        stages: Vec::new(),
        services: Vec::new(),
        expressions: Vec::new(),
    });
    let executor = ExecutorName("winch".into());
    let (subscriptions, ttl) = (subscriptions.collect(), Span::from_secs(80_000));
    harness.command(&Command::Register { executor, subscriptions, ttl }).expect("it may register");
}

/// The executor ends its task.
fn answer(harness: &mut Harness, step: Step, outcome: Outcome, data: &str) {
    let (executor, ttl) = (ExecutorName("winch".into()), Span::from_secs(60));
    let claimed = harness.command(&Command::Claim { step, executor, ttl });
    let Ok(Reply::Claimed { step, fence, .. }) = claimed else { panic!("{claimed:?}") };
    let (report, answer) = (Report::Ended(outcome), Some(data.into()));
    harness.command(&Command::Report { step, fence, report, answer }).expect("it holds the task");
    harness.settle();
}

#[test]
fn a_run_out_of_time_fails_once_also_after_a_restart() {
    let mut harness = Harness::new();
    let cleanup = Task { when: When::Always, ..task("cleanup") };
    let tasks = vec![task("test"), cleanup];
    let delivery = Sequence { tasks, timeout: Some(Span::from_secs(10)), ..Sequence::default() };
    harness.change(vec![triggered("dev"), put("dev", "delivery", delivery)]).expect("it is sound");
    hire(&mut harness, &["test", "cleanup"]);
    let id = harness.next_id();
    harness.command(&trigger(id, "dev", "delivery")).expect("the sequence is there");
    harness.settle();
    harness.now = harness.now + Span::from_secs(11);
    harness.settle();
    let last = |harness: &Harness| harness.lines(id).last().cloned();
    let cleans = Some("dev/delivery#1/cleanup task-done dispatched".to_owned());
    assert_eq!(last(&harness), cleans);
    harness.restart();
    harness.now = harness.now + Span::from_secs(11);
    harness.settle();
    assert_eq!(last(&harness), cleans, "what cleans up has its own time");
}

#[test]
fn what_happens_to_an_ended_deployment_survives_a_checkpoint_before_it_fires() {
    let mut harness = Harness::new();
    let delivery = Sequence { tasks: vec![task("test")], ..Sequence::default() };
    let remedy = Sequence { triggers: on(&["problem.open"]), ..delivery.clone() };
    let edits =
        vec![triggered("dev"), put("dev", "delivery", delivery), put("dev", "remedy", remedy)];
    harness.change(edits).expect("it is sound");
    hire(&mut harness, &["test"]);
    let id = harness.next_id();
    harness.command(&trigger(id, "dev", "delivery")).expect("the sequence is there");
    harness.settle();
    let test = harness.step(id, "shop/dev/delivery#1/test", Kind::TaskDone);
    answer(&mut harness, test, Outcome::Pass, "{}");
    assert_eq!(harness.ended(id), Some(Fact::Finished));
    harness.kernel.sweep();
    // The engine reads its records before it lets something happen to it.
    let past: Vec<_> = harness.log.iter().filter(|it| it.deployment == Some(id)).cloned().collect();
    harness.kernel.revive(&past).expect("its own records bring it back");
    harness.command(&happens(id, "problem.open", "{}")).expect("a sequence waits for it");
    harness.restart();
    harness.settle();
    let lines = harness.lines(id);
    assert!(lines.contains(&"dev/remedy#1 sequence-triggered".to_owned()), "{lines:#?}");
}

#[test]
fn runs_are_numbered_on_when_their_stage_becomes_a_triggered_one() {
    let mut harness = Harness::new();
    let delivery = || sequence("dev", "delivery", vec![task("deployment"), task("test")]);
    harness.change(vec![stage("dev", &[]), delivery()]).expect("it is sound");
    let id = harness.start("cart", "1");
    harness.settle();
    harness.change(vec![triggered("dev"), delivery()]).expect("a stage may change its entry");
    harness.command(&trigger(id, "dev", "delivery")).expect("the sequence is there");
    harness.settle();
    let lines = harness.lines(id);
    assert!(lines.contains(&"dev/delivery#2 sequence-triggered".to_owned()), "{lines:#?}");
    harness.check_replay();
}

#[test]
fn events_that_a_join_has_seen_do_not_pile_up() {
    let mut harness = Harness::new();
    let tasks = vec![task("test")];
    let joined = Sequence { tasks, triggers: on(&["built", "approved"]), ..Sequence::default() };
    let plain = sequence("dev", "delivery", vec![task("deployment")]);
    harness.change(vec![triggered("dev"), plain, put("dev", "join", joined)]).expect("it is sound");
    let id = harness.next_id();
    harness.command(&trigger(id, "dev", "delivery")).expect("the sequence is there");
    harness.settle();
    let data = format!(r#"{{"notes": "{}"}}"#, "x".repeat(1_000));
    let mut size = || {
        harness.command(&happens(id, "built", &data)).expect("a join waits for it");
        harness.settle();
        harness.kernel.checkpoint().1.len()
    };
    let first = size();
    let last = (0..20).map(|_| size()).last().expect("there are some");
    assert!(last < first + 200, "{first} bytes grew to {last}");
    harness.command(&happens(id, "approved", "{}")).expect("a join waits for it");
    harness.settle();
    let lines = harness.lines(id);
    assert!(lines.contains(&"dev/join#1 sequence-triggered".to_owned()), "{lines:#?}");
    harness.check_replay();
}

#[test]
fn a_deployment_that_is_brought_back_has_the_data_that_it_had() {
    let mut harness = Harness::new();
    let delivery = sequence("dev", "delivery", vec![task("test"), task("evaluation")]);
    harness.change(vec![triggered("dev"), delivery]).expect("it is sound");
    hire(&mut harness, &["test", "evaluation"]);
    let id = harness.next_id();
    harness.command(&trigger(id, "dev", "delivery")).expect("the sequence is there");
    harness.settle();
    let test = harness.step(id, "shop/dev/delivery#1/test", Kind::TaskDone);
    answer(&mut harness, test, Outcome::Fail, r#"{"test": {"score": 17}}"#);
    let skip = Command::Skip { step: test, reason: "known to be flaky".into() };
    harness.command(&skip).expect("a failed task can be skipped");
    harness.settle();
    let given = |harness: &Harness| {
        let evaluation = harness.step(id, "shop/dev/delivery#1/evaluation", Kind::TaskDone);
        let offer = harness.last_dispatch(evaluation);
        harness.kernel.message(offer).expect("it was offered").data
    };
    let first = given(&harness);
    assert_eq!(first["test"]["score"], 17);
    let evaluation = harness.step(id, "shop/dev/delivery#1/evaluation", Kind::TaskDone);
    answer(&mut harness, evaluation, Outcome::Fail, "{}");
    assert_eq!(harness.ended(id), Some(Fact::Failed));
    harness.kernel.sweep();
    let retry = Command::Retry { step: evaluation, data: None };
    harness.command(&retry).expect("a failed task can be retried");
    harness.settle();
    assert_eq!(given(&harness), first);
}
