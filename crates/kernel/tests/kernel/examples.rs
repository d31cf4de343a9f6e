//! Every worked example of the deployment log, by name.

use seaway_kernel::{
    Batch, Command, EdgeState, Edit, Entry, Policy, Range, Refusal, Sequence, StructureError,
    Waiting,
};
use seaway_model::{DeploymentId, Fact, Kind, Outcome};

use crate::harness::{Harness, group, name, over, sequence, stage, task};

/// `[build] --> [beta] --> [prod]`, one host in beta and one in prod, as before tests existed.
fn simple(inner: &[Kind]) -> Harness {
    let mut harness = Harness::new();
    let mut edits = vec![stage("build", &[])];
    let (build, archs) = (name("build"), name("archs"));
    let chain = vec![Kind::ArtifactRegistered];
    edits.push(Edit::PutGroup { stage: build.clone(), group: archs.clone(), chain });
    let members = ["x86", "aarch64", "raspbian"].map(name).to_vec();
    edits.push(Edit::AddMembers { stage: build, group: archs, members });
    edits.push(sequence("build", "build", vec![over("artifacts", &["archs"])]));
    for (here, before, host) in
        [("beta", "build", "antworker002"), ("prod", "beta", "antworker001")]
    {
        edits.push(stage(here, &[before]));
        edits.extend(group(here, "hosts", inner, &[host]));
        edits.push(sequence(here, "delivery", vec![over("deployment", &["hosts"])]));
    }
    harness.change(edits).expect("the structure is allowed");
    harness
}

fn introduce_tests(harness: &mut Harness) {
    let chain = vec![
        Kind::MemberStarted,
        Kind::ArtifactReplicated,
        Kind::MemberDeployed,
        Kind::MemberTested,
        Kind::MemberFinished,
    ];
    let edits = ["beta", "prod"].map(|stage| Edit::PutGroup {
        stage: name(stage),
        group: name("hosts"),
        chain: chain.clone(),
    });
    harness.change(edits.to_vec()).expect("steps can be introduced");
    harness.settle();
}

const BEFORE_TESTS: [Kind; 2] = [Kind::ArtifactReplicated, Kind::MemberDeployed];

/// Passes what is in flight until the deployment waits for `kind` at `path`.
fn pass_until(harness: &mut Harness, id: DeploymentId, path: &str, kind: Kind) {
    harness.settle();
    while !harness.in_flight(id).contains(&(path.to_owned(), kind)) {
        let flying = harness.in_flight(id);
        let (path, kind) = flying.first().expect("the deployment gets there").clone();
        harness.end(id, &path, kind, Outcome::Pass);
    }
}

fn tested(harness: &Harness, id: DeploymentId, stage: &str) -> Vec<String> {
    let lines = harness.lines(id).into_iter();
    lines.filter(|line| line.starts_with(stage) && line.contains("member-tested")).collect()
}

#[test]
fn the_simple_example_goes_from_build_through_beta_to_prod() {
    let mut harness = simple(&BEFORE_TESTS);
    let id = harness.start("ant-gateway", "1");
    harness.pass_all(id);
    assert_eq!(harness.ended(id), Some(Fact::Finished));
    let lines = harness.lines(id);
    let expected = "\
pipeline-started
build stage-started
build/build#1 sequence-triggered
build/build#1 sequence-started
build/build#1/artifacts/archs group-started
build/build#1/artifacts/archs/aarch64 artifact-registered dispatched
build/build#1/artifacts/archs/raspbian artifact-registered dispatched
build/build#1/artifacts/archs/x86 artifact-registered dispatched
build/build#1/artifacts/archs/aarch64 artifact-registered
build/build#1/artifacts/archs/raspbian artifact-registered
build/build#1/artifacts/archs/x86 artifact-registered
build/build#1/artifacts/archs group-finished
build/build#1/artifacts task-done
build/build#1 sequence-finished
build stage-finished
beta stage-started
beta/delivery#1 sequence-triggered
beta/delivery#1 sequence-started
beta/delivery#1/deployment/hosts group-started
beta/delivery#1/deployment/hosts/antworker002 member-started
beta/delivery#1/deployment/hosts/antworker002 artifact-replicated dispatched
beta/delivery#1/deployment/hosts/antworker002 artifact-replicated
beta/delivery#1/deployment/hosts/antworker002 member-deployed dispatched
beta/delivery#1/deployment/hosts/antworker002 member-deployed
beta/delivery#1/deployment/hosts/antworker002 member-finished
beta/delivery#1/deployment/hosts group-finished
beta/delivery#1/deployment task-done
beta/delivery#1 sequence-finished
beta stage-finished
prod stage-started";
    assert_eq!(lines[..30].join("\n"), expected);
    assert_eq!(lines.last().map(String::as_str), Some("pipeline-finished"));
}

/// `step1` leads to `step2` at once and to `step3 … step6`, which end in `step2` as well.
#[test]
fn the_ordering_table_leaves_step2_for_last() {
    let mut harness = Harness::new();
    let steps = [
        ("step1", vec![]),
        ("step3", vec!["step1"]),
        ("step4", vec!["step3"]),
        ("step5", vec!["step4"]),
        ("step6", vec!["step5"]),
        ("step2", vec!["step1", "step6"]),
    ];
    let mut edits = Vec::new();
    for (here, after) in &steps {
        edits.push(stage(here, after));
        edits.push(sequence(here, "do", vec![task("work")]));
    }
    harness.change(edits).expect("the structure is allowed");
    let id = harness.start("ants", "1");
    harness.pass_all(id);
    let performed: Vec<String> = harness
        .lines(id)
        .into_iter()
        .filter_map(|line| line.strip_suffix("/do#1/work task-done").map(str::to_owned))
        .collect();
    assert_eq!(performed, ["step1", "step3", "step4", "step5", "step6", "step2"]);
}

#[test]
fn in_the_gating_example_both_betas_come_before_either_prod() {
    let mut harness = Harness::new();
    let stages = [
        ("build", vec![]),
        ("data-farm.beta", vec!["build"]),
        ("on-the-web.beta", vec!["build"]),
        ("data-farm.prod", vec!["data-farm.beta", "on-the-web.beta"]),
        ("on-the-web.prod", vec!["data-farm.prod"]),
    ];
    let mut edits = Vec::new();
    for (here, after) in &stages {
        edits.push(stage(here, after));
        edits.push(sequence(here, "delivery", vec![task("deploy")]));
    }
    harness.change(edits).expect("the structure is allowed");
    let id = harness.start("ants", "1");
    harness.settle();
    harness.end(id, "shop/build/delivery#1/deploy", Kind::TaskDone, Outcome::Pass);
    let betas = ["shop/data-farm.beta/delivery#1/deploy", "shop/on-the-web.beta/delivery#1/deploy"];
    let flying: Vec<String> = harness.in_flight(id).into_iter().map(|(path, _)| path).collect();
    assert_eq!(flying, betas);
    harness.end(id, betas[0], Kind::TaskDone, Outcome::Pass);
    let flying: Vec<String> = harness.in_flight(id).into_iter().map(|(path, _)| path).collect();
    assert_eq!(flying, betas[1..], "prod waits for the other beta");
    harness.end(id, betas[1], Kind::TaskDone, Outcome::Pass);
    let flying = harness.in_flight(id);
    assert_eq!(flying[0].0, "shop/data-farm.prod/delivery#1/deploy");
    harness.pass_all(id);
    assert_eq!(harness.ended(id), Some(Fact::Finished));
}

const BETA_HOST: &str = "shop/beta/delivery#1/deployment/hosts/antworker002";
const PROD_HOST: &str = "shop/prod/delivery#1/deployment/hosts/antworker001";

#[test]
fn a_deployment_that_starts_after_the_introduction_does_the_new_step_everywhere() {
    let mut harness = simple(&BEFORE_TESTS);
    introduce_tests(&mut harness);
    let id = harness.start("ant-gateway", "1");
    harness.pass_all(id);
    assert_eq!(tested(&harness, id, "beta").len(), 2);
    assert_eq!(tested(&harness, id, "prod").len(), 2);
}

#[test]
fn an_older_deployment_does_the_new_step_if_it_has_passed_no_place_that_needs_it() {
    let mut harness = simple(&BEFORE_TESTS);
    let id = harness.start("ant-gateway", "1");
    pass_until(&mut harness, id, BETA_HOST, Kind::MemberDeployed);
    introduce_tests(&mut harness);
    harness.pass_all(id);
    assert_eq!(tested(&harness, id, "beta").len(), 2, "dispatched and finished in beta");
    assert_eq!(tested(&harness, id, "prod").len(), 2, "and in prod");
    assert_eq!(harness.ended(id), Some(Fact::Finished));
}

#[test]
fn an_older_deployment_that_passed_beta_without_the_new_step_skips_it_in_prod() {
    let mut harness = simple(&BEFORE_TESTS);
    let id = harness.start("ant-gateway", "1");
    pass_until(&mut harness, id, PROD_HOST, Kind::ArtifactReplicated);
    introduce_tests(&mut harness);
    harness.pass_all(id);
    let beta = tested(&harness, id, "beta");
    assert_eq!(beta.len(), 1);
    assert!(beta[0].ends_with("skipped (surpassed)"), "{beta:?}");
    let prod = tested(&harness, id, "prod");
    assert_eq!(prod.len(), 1);
    assert!(prod[0].ends_with("skipped (introduced late)"), "{prod:?}");
    assert_eq!(harness.ended(id), Some(Fact::Finished));
}

#[test]
fn a_batch_of_deploy_and_test_keeps_the_next_revision_out_until_the_test_is_over() {
    let mut harness = Harness::new();
    let batch = Batch { capacity: 1, policy: Policy::Queue };
    let definition = Sequence {
        tasks: vec![task("prepare"), task("deploy"), task("test")],
        range: Some(Range { first: 1, last: 2, batch }),
        ..Sequence::default()
    };
    let sequence =
        Edit::PutSequence { stage: name("beta"), sequence: name("delivery"), definition };
    harness.change(vec![stage("beta", &[]), sequence]).expect("the structure is allowed");
    let (one, two) = (harness.start("cart", "1"), harness.start("web", "1"));
    harness.settle();
    for id in [one, two] {
        harness.end(id, "shop/beta/delivery#1/prepare", Kind::TaskDone, Outcome::Pass);
    }
    harness.end(one, "shop/beta/delivery#1/deploy", Kind::TaskDone, Outcome::Pass);
    let waiting = harness.kernel.waiting(two, 10);
    let holds = matches!(&waiting[0].why, Waiting::InLine { holders, .. } if holders.len() == 1);
    assert!(holds, "deploy of the second waits while the first is tested: {waiting:?}");
    harness.end(one, "shop/beta/delivery#1/test", Kind::TaskDone, Outcome::Pass);
    assert_eq!(harness.in_flight(two)[0].0, "shop/beta/delivery#1/deploy");
}

#[test]
fn a_cycle_is_refused_and_named() {
    let mut harness = Harness::new();
    let refusal = harness.change(vec![stage("a", &["b"]), stage("b", &["a"])]);
    let cycle = [name("b"), name("a"), name("b")].to_vec();
    let expected = Refusal::Structure(StructureError::Cycle(cycle));
    assert_eq!(refusal, Err(expected.clone()));
    assert!(expected.to_string().contains("b -> a -> b"));
    assert!(harness.log.is_empty());
}

#[test]
fn an_empty_group_goes_straight_to_its_end() {
    let mut harness = Harness::new();
    let mut edits = vec![stage("beta", &[])];
    edits.extend(group("beta", "hosts", &BEFORE_TESTS, &[]));
    edits.push(sequence("beta", "delivery", vec![over("deployment", &["hosts"])]));
    harness.change(edits).expect("the structure is allowed");
    let id = harness.start("cart", "1");
    harness.settle();
    assert_eq!(harness.ended(id), Some(Fact::Finished));
    let lines = harness.lines(id);
    assert!(lines.contains(&"beta/delivery#1/deployment/hosts group-finished".to_owned()));
}

#[test]
fn a_host_added_to_a_finished_group_is_surpassed_and_blocks_nothing() {
    let mut harness = simple(&BEFORE_TESTS);
    let id = harness.start("ant-gateway", "1");
    pass_until(&mut harness, id, PROD_HOST, Kind::ArtifactReplicated);
    let add = Edit::AddMembers {
        stage: name("beta"),
        group: name("hosts"),
        members: vec![name("antworker003")],
    };
    harness.change(vec![add]).expect("hosts can be added");
    harness.pass_all(id);
    assert_eq!(harness.ended(id), Some(Fact::Finished));
    let new: Vec<String> =
        harness.lines(id).into_iter().filter(|line| line.contains("antworker003")).collect();
    assert_eq!(new.len(), 4);
    assert!(new.iter().all(|line| line.ends_with("skipped (surpassed)")), "{new:?}");
}

#[test]
fn of_the_eight_rows_of_the_table_only_two_ever_occur() {
    let mut harness = simple(&BEFORE_TESTS);
    let id = harness.start("ant-gateway", "1");
    harness.settle();
    let mut seen = Vec::new();
    let mut moves = 0;
    while harness.ended(id).is_none() {
        if moves == 6 {
            introduce_tests(&mut harness);
        }
        for edge in harness.kernel.edges(id, usize::MAX) {
            let complete = |step| {
                let mut records = harness.log.iter().filter(|record| record.step() == Some(step));
                records
                    .next_back()
                    .is_some_and(|record| matches!(record.fact, Fact::Finished | Fact::Skipped))
            };
            assert!(edge.along_failure || complete(edge.done), "rows 100 to 111: {edge:?}");
            assert!(!complete(edge.todo), "rows 000 and 001: {edge:?}");
            if let Some((after, state)) = edge.after {
                assert_eq!(state == EdgeState::Complete, complete(after), "{edge:?}");
                seen.push(state);
            }
        }
        let flying = harness.in_flight(id);
        let (path, kind) = flying.first().expect("something is in flight").clone();
        harness.end(id, &path, kind, Outcome::Pass);
        moves += 1;
    }
    assert!(seen.contains(&EdgeState::Incomplete), "row 011 occurs");
}

#[test]
fn a_failed_step_is_retried_and_the_deployment_comes_back_for_it() {
    let mut harness = simple(&BEFORE_TESTS);
    let id = harness.start("ant-gateway", "1");
    pass_until(&mut harness, id, BETA_HOST, Kind::MemberDeployed);
    harness.end(id, BETA_HOST, Kind::MemberDeployed, Outcome::Fail);
    assert_eq!(harness.ended(id), Some(Fact::Failed));
    assert_eq!(harness.kernel.deployments().count(), 0, "it left memory");
    let step = harness.step(id, BETA_HOST, Kind::MemberDeployed);
    harness.command(&Command::Retry { step, data: None }).expect("failed steps can be retried");
    harness.pass_all(id);
    assert_eq!(harness.ended(id), Some(Fact::Finished));
    let lines = harness.lines(id);
    let count = |line: &str| lines.iter().filter(|it| *it == line).count();
    assert_eq!((count("beta stage-failed"), count("beta stage-finished")), (1, 1));
    assert_eq!((count("pipeline-failed"), count("pipeline-finished")), (1, 1));
    harness.check_replay();
}

#[test]
fn removing_a_stage_promotes_nothing_that_failed_in_it() {
    let mut harness = simple(&BEFORE_TESTS);
    let (id, other) = (harness.start("ant-gateway", "1"), harness.start("ant-gateway", "2"));
    pass_until(&mut harness, id, BETA_HOST, Kind::MemberDeployed);
    let remove = Edit::RemoveStage { stage: name("beta") };
    harness.change(vec![remove]).expect("stages can be removed");
    harness.settle();
    harness.end(id, BETA_HOST, Kind::MemberDeployed, Outcome::Fail);
    assert_eq!(harness.ended(id), Some(Fact::Failed));
    assert!(!harness.lines(id).iter().any(|line| line.starts_with("prod")));
    harness.pass_all(other);
    assert_eq!(harness.ended(other), Some(Fact::Finished), "who was not in it goes past it");
}

#[test]
fn a_newer_waiter_replaces_an_older_one_but_not_for_ever() {
    let mut harness = Harness::new();
    let batch = Some(Batch { capacity: 1, policy: Policy::Supersede { max_replaced: 2 } });
    let put = Edit::PutStage {
        stage: name("beta"),
        entry: Entry::Ordered,
        after: Default::default(),
        batch,
    };
    let delivery = sequence("beta", "delivery", vec![task("deploy")]);
    harness.change(vec![put, delivery]).expect("the structure is allowed");
    let ids: Vec<DeploymentId> = (1..=6)
        .map(|version| {
            let id = harness.start("cart", &format!("v{version}"));
            harness.settle();
            id
        })
        .collect();
    let ended: Vec<Option<Fact>> = ids.iter().map(|id| harness.ended(*id)).collect();
    let (superseded, open) = (Some(Fact::Superseded), None);
    assert_eq!(ended, [open, superseded, superseded, open, open, open]);
    harness.end(ids[0], "shop/beta/delivery#1/deploy", Kind::TaskDone, Outcome::Pass);
    assert_eq!(harness.in_flight(ids[3]).len(), 1, "the waiter at the head was kept");
}

#[test]
fn only_the_newest_holder_of_a_lease_is_listened_to() {
    let mut harness = Harness::new();
    let delivery = sequence("beta", "delivery", vec![task("deploy")]);
    harness.change(vec![stage("beta", &[]), delivery]).expect("the structure is allowed");
    let id = harness.start("cart", "1");
    harness.settle();
    let step = harness.step(id, "shop/beta/delivery#1/deploy", Kind::TaskDone);
    let first = harness.claim(step, "one").expect("it can be claimed");
    assert!(matches!(harness.claim(step, "two"), Err(Refusal::HeldBy(_))));
    harness.now = harness.now + seaway_model::Span::from_secs(11);
    harness.settle();
    let second = harness.claim(step, "two").expect("a lost lease is offered again");
    assert!(second > first);
    let ended = seaway_kernel::Report::Ended(Outcome::Pass);
    let late = Command::Report { step, fence: first, report: ended, answer: None };
    assert!(matches!(harness.command(&late), Err(Refusal::StaleFence { .. })));
    let good = Command::Report { step, fence: second, report: ended, answer: None };
    harness.command(&good).expect("the newest holder is listened to");
    harness.settle();
    assert_eq!(harness.ended(id), Some(Fact::Finished));
}
