//! Executors take what waits for them, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use seaway_kernel::{
    Actor, Command, Edit, Entry, Kernel, Refusal, Reply, Report, Step, Subscription, Taken, Waiting,
};
use seaway_model::{
    Attempt, DeploymentId, ExecutorName, Fact, Fence, Kind, Outcome, Revision, Seq, Span,
};

use crate::harness::{Harness, histories, name, sequence, task};
use crate::shipyards::{EXECUTORS, watched};

const TTL: Span = Span::from_secs(30);

pub(crate) fn executor(name: &str) -> ExecutorName {
    ExecutorName(name.into())
}

/// A stage that is entered by triggers, with a sequence `delivery` of these tasks.
pub(crate) fn yard(tasks: &[&str]) -> Harness {
    let mut harness = Harness::new();
    let (stage, after, batch) = (name("dev"), Default::default(), None);
    let put = Edit::PutStage { stage, entry: Entry::Triggered, after, batch };
    let tasks = tasks.iter().map(|text| task(text)).collect();
    harness.change(vec![put, sequence("dev", "delivery", tasks)]).expect("it is sound");
    harness
}

pub(crate) fn hire(harness: &mut Harness, who: &str, tasks: &[&str]) {
    let subscriptions = tasks.iter().map(|task| Subscription {
        task: name(task),
        stages: Vec::new(),
        services: Vec::new(),
        expressions: Vec::new(),
    });
    let (subscriptions, ttl) = (subscriptions.collect(), Span::from_secs(80_000));
    let register = Command::Register { executor: executor(who), subscriptions, ttl };
    harness.command(&register).expect("it may register");
    harness.settle();
}

/// Sends a service into the pipeline: under an id, and with a number if its version has one.
pub(crate) fn send(harness: &mut Harness, id: u128, service: &str, known: Option<u64>) -> Step {
    send_with(harness, id, (service, known), r#"{"labels": {"color": "blue"}}"#)
}

fn send_with(
    harness: &mut Harness,
    id: u128,
    (service, known): (&str, Option<u64>),
    data: &str,
) -> Step {
    let deployment = DeploymentId(uuid::Uuid::from_u128(id));
    let trigger = Command::Trigger {
        deployment,
        stage: name("dev"),
        sequence: name("delivery"),
        service: name(service),
        version: "1".into(),
        known: known.map(Revision),
        data: Some(data.into()),
    };
    harness.command(&trigger).expect("the sequence is there");
    harness.settle();
    let first = harness.kernel.waiting(deployment, 1);
    first.first().expect("its first task is in flight").step
}

fn take(harness: &mut Harness, who: &str, max: usize) -> Vec<Taken> {
    let command = Command::Take { executor: executor(who), max, ttl: TTL };
    match harness.command(&command).expect("it is registered") {
        Reply::Taken { tasks, .. } => tasks,
        other => panic!("a take was answered with {other:?}"),
    }
}

fn ids(tasks: &[Taken]) -> Vec<u128> {
    tasks.iter().map(|it| it.step.deployment.0.as_u128()).collect()
}

fn end(harness: &mut Harness, taken: &Taken, outcome: Outcome) -> Result<Reply, Refusal> {
    let (step, fence, report) = (taken.step, taken.fence, Report::Ended(outcome));
    harness.command(&Command::Report { step, fence, report, answer: None })
}

#[test]
fn the_oldest_revision_is_taken_first_and_no_more_than_was_asked_for() {
    let mut harness = yard(&["test"]);
    hire(&mut harness, "winch", &["test"]);
    send(&mut harness, 9, "cart", None);
    send(&mut harness, 8, "web", None);
    // An old version goes once more, long after it got its number.
    send(&mut harness, 7, "api", Some(1));
    assert_eq!(ids(&take(&mut harness, "winch", 0)), []);
    assert_eq!(ids(&take(&mut harness, "winch", 2)), [9, 7]);
    let last = take(&mut harness, "winch", usize::MAX);
    assert_eq!(ids(&last), [8]);
    assert_eq!(last[0].path, "shop/dev/delivery#1/test");
    assert_eq!(last[0].task, name("test"));
    let task = harness.step(last[0].step.deployment, &last[0].path, Kind::TaskDone);
    let message = harness.kernel.message(harness.last_dispatch(task)).expect("it was offered");
    let told: serde_json::Value = serde_json::from_str(&last[0].data).expect("it is JSON");
    assert_eq!(told, message.data);
    assert_eq!(told["labels"]["color"], "blue");
    assert_eq!(ids(&take(&mut harness, "winch", 5)), []);
    harness.check_replay();
}

/// Tasks with a lot of data come in several answers, none of which is much larger than allowed.
#[test]
fn what_is_taken_at_once_is_bounded_in_bytes() {
    let mut harness = yard(&["test"]);
    hire(&mut harness, "winch", &["test"]);
    let data = format!(r#"{{"text": "{}"}}"#, "x".repeat(900_000));
    for id in 1..=7 {
        send_with(&mut harness, id, (&format!("service-{id}"), None), &data);
    }
    assert_eq!(ids(&take(&mut harness, "winch", 50)), [1, 2, 3, 4, 5]);
    assert_eq!(ids(&take(&mut harness, "winch", 50)), [6, 7]);
}

#[test]
fn everybody_who_subscribed_takes_a_share_of_its_own() {
    let mut harness = yard(&["test"]);
    hire(&mut harness, "winch", &["test"]);
    hire(&mut harness, "bosun", &["test", "release"]);
    hire(&mut harness, "idle", &["release"]);
    let task = send(&mut harness, 1, "cart", None);
    let (one, two) = (take(&mut harness, "winch", 9), take(&mut harness, "bosun", 9));
    assert_eq!((one.len(), two.len()), (1, 1));
    assert_ne!(one[0].step, two[0].step);
    assert_eq!(take(&mut harness, "idle", 9), []);
    assert_eq!(take(&mut harness, "winch", 9), [], "a share is given to one only");
    end(&mut harness, &one[0], Outcome::Pass).expect("it holds its share");
    harness.settle();
    assert_eq!(harness.ended(task.deployment), None, "the other one is waited for");
    end(&mut harness, &two[0], Outcome::Warning).expect("it holds its share");
    harness.settle();
    assert_eq!(harness.ended(task.deployment), Some(Fact::Finished));
}

#[test]
fn what_was_lost_is_taken_again_under_a_higher_number() {
    let mut harness = yard(&["test"]);
    hire(&mut harness, "winch", &["test"]);
    send(&mut harness, 1, "cart", None);
    let first = take(&mut harness, "winch", 1).remove(0);
    assert_eq!(first.fence, Fence { attempt: Attempt(1), lease: 1 });
    harness.now = harness.now + TTL;
    harness.settle();
    let second = take(&mut harness, "winch", 1).remove(0);
    assert_eq!(second.fence, Fence { attempt: Attempt(1), lease: 2 });
    assert_eq!(second.step, first.step);
    let (given, current) = (first.fence, second.fence);
    let stale = Err(Refusal::StaleFence { given, current });
    assert_eq!(end(&mut harness, &first, Outcome::Pass), stale);
    end(&mut harness, &second, Outcome::Pass).expect("it is the newest holder");
    harness.settle();
    harness.check_replay();
}

#[test]
fn what_is_given_back_can_be_taken_at_once_and_only_its_holder_gives_it() {
    let mut harness = yard(&["test"]);
    hire(&mut harness, "winch", &["test"]);
    send(&mut harness, 1, "cart", None);
    let first = take(&mut harness, "winch", 1).remove(0);
    let give = |taken: &Taken| Command::GiveBack { step: taken.step, fence: taken.fence };
    harness.command(&give(&first)).expect("it holds the task");
    assert_eq!(harness.command(&give(&first)), Err(Refusal::NotOffered), "nobody holds it now");
    let second = take(&mut harness, "winch", 1).remove(0);
    assert_eq!(second.fence.lease, 2);
    let (given, current) = (first.fence, second.fence);
    let refused = harness.command(&give(&first));
    assert_eq!(refused, Err(Refusal::StaleFence { given, current }));
    end(&mut harness, &second, Outcome::Pass).expect("it still holds the task");
    harness.settle();
    let refused = harness.command(&give(&second));
    assert!(matches!(refused, Err(Refusal::Ended(_) | Refusal::NotOffered)), "{refused:?}");
    harness.check_replay();
}

#[test]
fn what_nobody_holds_cannot_be_given_back() {
    let mut harness = Harness::new();
    let edits = vec![
        crate::harness::stage("beta", &[]),
        sequence("beta", "delivery", vec![task("deploy")]),
    ];
    harness.change(edits).expect("it is sound");
    let id = harness.start("cart", "1");
    harness.settle();
    let step = harness.step(id, "shop/beta/delivery#1/deploy", Kind::TaskDone);
    let unclaimed = Fence { attempt: Attempt(1), lease: 0 };
    let refused = harness.command(&Command::GiveBack { step, fence: unclaimed });
    assert_eq!(refused, Err(Refusal::NotOffered));
    let fence = harness.claim(step, "agent").expect("it is offered");
    harness.command(&Command::GiveBack { step, fence }).expect("it is held");
    let again = harness.command(&Command::GiveBack { step, fence });
    assert_eq!(again, Err(Refusal::NotOffered), "once is enough");
    assert_eq!(harness.claim(step, "other").map(|fence| fence.lease), Ok(2));
}

#[test]
fn a_deployment_that_is_being_aborted_gives_nothing_out_and_hides_nothing() {
    let mut harness = yard(&["test"]);
    hire(&mut harness, "winch", &["test"]);
    let old = send(&mut harness, 1, "cart", None).deployment;
    send(&mut harness, 2, "web", None);
    // Nothing was cancelled yet: the scheduler has had no turn.
    harness.command(&Command::Abort { deployment: old }).expect("it is under way");
    assert_eq!(ids(&take(&mut harness, "winch", 1)), [2]);
    assert_eq!(ids(&take(&mut harness, "winch", 1)), []);
    harness.settle();
    assert_eq!(ids(&take(&mut harness, "winch", 9)), []);
    harness.check_replay();
}

#[test]
fn only_a_registered_executor_takes_and_for_a_sensible_time() {
    let mut harness = yard(&["test"]);
    let unknown = Command::Take { executor: executor("winch"), max: 1, ttl: TTL };
    let refused = harness.command(&unknown);
    assert_eq!(refused, Err(Refusal::UnknownExecutor(executor("winch"))));
    hire(&mut harness, "winch", &["test"]);
    let forever = Command::Take { executor: executor("winch"), max: 1, ttl: Span(0) };
    assert_eq!(harness.command(&forever), Err(Refusal::BadTtl));
}

#[test]
fn a_take_is_a_sign_of_life() {
    let mut harness = yard(&["test"]);
    hire(&mut harness, "winch", &["test"]);
    harness.now = harness.now + Span::from_secs(79_999);
    harness.settle();
    assert_eq!(take(&mut harness, "winch", 1), []);
    harness.now = harness.now + Span::from_secs(79_999);
    harness.settle();
    assert_eq!(take(&mut harness, "winch", 1), [], "it is still registered");
}

#[test]
fn executors_are_woken_when_there_is_something_new_for_them() {
    let mut harness = yard(&["test"]);
    hire(&mut harness, "winch", &["test"]);
    hire(&mut harness, "idle", &["release"]);
    let woken = |harness: &mut Harness| {
        let woken = harness.kernel.woken().into_iter();
        woken.map(|it| it.0.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(woken(&mut harness), [""; 0]);
    send(&mut harness, 1, "cart", None);
    assert_eq!(woken(&mut harness), ["winch"]);
    assert_eq!(woken(&mut harness), [""; 0], "it was told");
    let taken = take(&mut harness, "winch", 1).remove(0);
    let (step, fence) = (taken.step, taken.fence);
    harness.command(&Command::GiveBack { step, fence }).expect("it holds the task");
    assert_eq!(woken(&mut harness), ["winch"]);
    take(&mut harness, "winch", 1);
    harness.now = harness.now + TTL;
    harness.settle();
    assert_eq!(woken(&mut harness), ["winch"], "its lease ran out");
    harness.command(&Command::Leave { executor: executor("winch") }).expect("it is there");
    harness.settle();
    hire(&mut harness, "spare", &["test"]);
    assert_eq!(woken(&mut harness), ["spare"], "it can do what nobody could");
    harness.restart();
    assert_eq!(woken(&mut harness), ["spare"], "after a start nobody has been told");
}

/// What a look at every offer says: the tasks that each executor may take, in order, with the
/// fences that they come with.
fn scan(harness: &Harness, kernel: &Kernel) -> BTreeMap<ExecutorName, Vec<(Step, Fence)>> {
    let mut all: BTreeMap<ExecutorName, BTreeSet<(Revision, Seq, Step, Fence)>> = BTreeMap::new();
    for (id, revision) in kernel.deployments() {
        let mine = || harness.log.iter().filter(|record| record.deployment == Some(id));
        if mine().any(|record| record.fact == Fact::Aborted) {
            continue;
        }
        let started = mine().next().expect("it has records").seq;
        for wait in kernel.waiting(id, usize::MAX) {
            let Waiting::Offered { to, .. } = wait.why else { continue };
            let attempt = harness.last_dispatch(wait.step).attempt;
            let path = kernel.targets().path(wait.step.target).to_string();
            for who in to {
                let share = kernel.targets().find(&format!("{path}@{who}"));
                let claims = mine().filter(|it| {
                    let claim = it.fact == Fact::Claimed && it.attempt == attempt;
                    claim && Some(it.target) == share
                });
                let fence = Fence { attempt, lease: claims.count() as u32 + 1 };
                let shares = all.entry(who).or_default();
                shares.insert((revision, started, wait.step, fence));
            }
        }
    }
    let listed = |shares: BTreeSet<(Revision, Seq, Step, Fence)>| {
        shares.into_iter().map(|(_, _, step, fence)| (step, fence)).collect()
    };
    all.into_iter().map(|(who, shares)| (who, listed(shares))).collect()
}

/// What a kernel hands out when it is asked for everything, or for one thing after the other.
fn handed_out(kernel: &Kernel, now: seaway_model::Timestamp, who: &str, max: usize) -> Handed {
    let mut kernel = kernel.clone();
    let (by, mut out, mut handed) = (Actor::named(who), Vec::new(), Vec::new());
    let take = Command::Take { executor: executor(who), max, ttl: TTL };
    loop {
        match kernel.decide(&take, now, &by, &mut out) {
            Ok(Reply::Taken { tasks, .. }) if tasks.is_empty() => return Some(handed),
            Ok(Reply::Taken { tasks, .. }) => handed.extend(tasks.into_iter().map(|it| {
                let target = kernel.targets().find(&it.path).expect("it has a path");
                (Step { target, ..it.step }, it.fence)
            })),
            Err(Refusal::UnknownExecutor(_)) => return None,
            other => panic!("a take was answered with {other:?}"),
        }
    }
}

type Handed = Option<Vec<(Step, Fence)>>;

fn compare(harness: &Harness, kernel: &Kernel) {
    let mut expected = scan(harness, kernel);
    for who in EXECUTORS {
        let expected = expected.remove(&executor(who)).unwrap_or_default();
        for max in [1, 100] {
            match handed_out(kernel, harness.now, who, max) {
                Some(handed) => assert_eq!(handed, expected, "{who} takes {max} at a time"),
                None => assert_eq!(expected, [], "nobody waits for {who}, who is not here"),
            }
        }
    }
}

proptest! {
    #![proptest_config(histories(60, 5))]

    #[test]
    fn what_can_be_taken_is_what_a_look_at_every_offer_finds(
        numbers in prop::collection::vec(any::<u64>(), 1..70)
    ) {
        let mut harness = watched(&numbers, |harness| compare(harness, &harness.kernel));
        harness.restart();
        compare(&harness, &harness.kernel);
        harness.drain();
        compare(&harness, &harness.kernel);
    }
}
