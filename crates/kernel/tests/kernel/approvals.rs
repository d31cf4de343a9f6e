//! The reserved task that waits for a person.

use seaway_kernel::{Command, Edit, Refusal, Reply, Sequence, Step, Task, Waiting};
use seaway_model::{Attempt, DeploymentId, Fact, Fence, Kind, Outcome, Span};

use crate::harness::{Harness, name, sequence, stage, task};
use crate::takers::{executor, hire, send, yard};

const DAYS: Span = Span::from_secs(10 * 86_400);

fn approve(step: Step, outcome: Outcome, comment: Option<&str>) -> Command {
    Command::Approve { step, outcome, comment: comment.map(Into::into) }
}

fn why(harness: &Harness, step: Step) -> Option<Waiting> {
    let waiting = harness.kernel.waiting(step.deployment, 100).into_iter();
    waiting.filter(|it| it.step == step).map(|it| it.why).next()
}

/// A pipeline whose first task is an approval with these properties and this time limit.
fn gated(properties: Option<&str>, timeout: Option<Span>) -> Harness {
    let mut harness = yard(&["approval"]);
    let approval = Task { properties: properties.map(Into::into), timeout, ..task("approval") };
    let definition = Sequence { tasks: vec![approval, task("release")], ..Sequence::default() };
    let put = Edit::PutSequence { stage: name("dev"), sequence: name("delivery"), definition };
    harness.change(vec![put]).expect("it is sound");
    hire(&mut harness, "winch", &["release"]);
    harness
}

fn take(harness: &mut Harness, who: &str) -> usize {
    let ttl = Span::from_secs(30);
    match harness.command(&Command::Take { executor: executor(who), max: 9, ttl }) {
        Ok(Reply::Taken { tasks, .. }) => tasks.len(),
        other => panic!("a take was answered with {other:?}"),
    }
}

#[test]
fn an_approval_waits_for_a_person_however_long_that_takes() {
    let mut harness = gated(None, None);
    let since = harness.now;
    let step = send(&mut harness, 1, "cart", None);
    assert_eq!(why(&harness, step), Some(Waiting::Approval { since }));
    for _ in 0..3 {
        harness.now = harness.now + DAYS;
        harness.settle();
        harness.restart();
    }
    let waits = why(&harness, step).expect("it still waits");
    assert_eq!(waits, Waiting::Approval { since });
    assert_eq!(waits.to_string(), "waiting for approval");
    assert_eq!(waits.ended_by(), "a person who approves or rejects it");
    harness.command(&approve(step, Outcome::Pass, None)).expect("it waits");
    harness.settle();
    harness.check_replay();
}

#[test]
fn who_approves_is_named_and_the_next_task_gets_to_know_it() {
    let mut harness = gated(None, None);
    let step = send(&mut harness, 1, "cart", None);
    let said = Some("looks \"good\"");
    harness.command(&approve(step, Outcome::Warning, said)).expect("it waits");
    harness.settle();
    let done = harness.log.iter().rev().find(|it| it.step() == Some(step));
    let done = done.expect("the task has records");
    assert_eq!((done.fact, done.outcome), (Fact::Finished, Some(Outcome::Warning)));
    let release = harness.step(step.deployment, "shop/dev/delivery#1/release", Kind::TaskDone);
    let offer = harness.last_dispatch(release);
    let data = harness.kernel.message(offer).expect("it was offered").data;
    let expected =
        serde_json::json!({"verdict": "approved", "by": "alice", "comment": "looks \"good\""});
    assert_eq!(data["approval"], expected);
    let answered = harness.log.iter().find(|it| it.fact == Fact::Finished && it.n == 1);
    assert_eq!(answered.map(|it| it.by.as_str()), Some("alice"));

    assert_eq!(harness.command(&approve(step, Outcome::Pass, None)), Err(Refusal::NoApproval));
    let step = release;
    assert_eq!(harness.command(&approve(step, Outcome::Pass, None)), Err(Refusal::NoApproval));
    harness.check_replay();
}

#[test]
fn a_rejection_fails_the_task_and_a_retry_asks_again() {
    let mut harness = gated(None, None);
    let step = send(&mut harness, 1, "cart", None);
    harness.command(&approve(step, Outcome::Fail, Some("not on a Friday"))).expect("it waits");
    let again = harness.command(&approve(step, Outcome::Pass, None));
    assert_eq!(again, Err(Refusal::NoApproval), "one answer counts");
    harness.settle();
    assert_eq!(harness.ended(step.deployment), Some(Fact::Failed));
    harness.kernel.sweep();
    harness.command(&Command::Retry { step, data: None }).expect("what failed can be retried");
    harness.settle();
    assert!(matches!(why(&harness, step), Some(Waiting::Approval { .. })));
    assert_eq!(harness.last_dispatch(step).attempt, Attempt(2));
    harness.command(&approve(step, Outcome::Pass, None)).expect("it waits again");
    harness.settle();
    assert_eq!(take(&mut harness, "winch"), 1, "the release is on");
    harness.check_replay();
}

#[test]
fn an_executor_that_subscribed_decides_instead_until_it_leaves() {
    let mut harness = gated(None, None);
    hire(&mut harness, "bot", &["approval"]);
    let step = send(&mut harness, 1, "cart", None);
    let offered = Waiting::Offered { to: vec![executor("bot")], working: Vec::new() };
    assert_eq!(why(&harness, step), Some(offered));
    assert_eq!(harness.command(&approve(step, Outcome::Pass, None)), Err(Refusal::NoApproval));
    harness.command(&Command::Leave { executor: executor("bot") }).expect("it is there");
    harness.settle();
    assert!(matches!(why(&harness, step), Some(Waiting::Approval { .. })));
    // Whoever comes later does not take over what waits for a person.
    hire(&mut harness, "bot", &["approval"]);
    assert_eq!(take(&mut harness, "bot"), 0);
    harness.command(&approve(step, Outcome::Pass, None)).expect("it waits for a person");
    harness.settle();
    harness.check_replay();
}

#[test]
fn the_properties_of_an_approval_may_say_who_decides() {
    let mut harness = gated(Some(r#"{"executor": "builtin"}"#), None);
    hire(&mut harness, "bot", &["approval"]);
    let step = send(&mut harness, 1, "cart", None);
    assert!(matches!(why(&harness, step), Some(Waiting::Approval { .. })));
    assert_eq!(take(&mut harness, "bot"), 0);
    assert_eq!(harness.claim(step, "bot"), Err(Refusal::NotSubscribed(executor("bot"))));

    let mut harness = gated(Some(r#"{"executor": "external"}"#), None);
    let step = send(&mut harness, 1, "cart", None);
    let waits = why(&harness, step).expect("it waits");
    assert_eq!(
        waits.to_string(),
        "no executor for reserved task \"approval\"; register one or map it to a definition"
    );
    assert_eq!(harness.command(&approve(step, Outcome::Pass, None)), Err(Refusal::NoApproval));
    harness.now = harness.now + Span::from_secs(601);
    harness.settle();
    assert_eq!(harness.ended(step.deployment), Some(Fact::Failed), "nobody came");
}

#[test]
fn what_nobody_does_says_whether_its_task_is_a_reserved_one() {
    let mut harness = yard(&["evaluation"]);
    let step = send(&mut harness, 1, "cart", None);
    let text = why(&harness, step).map(|it| it.to_string());
    let reserved =
        "no executor for reserved task \"evaluation\"; register one or map it to a definition";
    assert_eq!(text.as_deref(), Some(reserved));
    let mut harness = yard(&["polish"]);
    let step = send(&mut harness, 1, "cart", None);
    let text = why(&harness, step).map(|it| it.to_string());
    assert_eq!(text.as_deref(), Some("no executor for task \"polish\""));
}

#[test]
fn nobody_answers_in_the_name_of_a_person() {
    let mut harness = gated(None, None);
    let step = send(&mut harness, 1, "cart", None);
    let reserved = || Refusal::ReservedExecutor(executor("seaway/approval"));
    assert_eq!(harness.claim(step, "seaway/approval"), Err(reserved()));
    let ttl = Span::from_secs(30);
    let take = Command::Take { executor: executor("seaway/approval"), max: 1, ttl };
    let unknown = Refusal::UnknownExecutor(executor("seaway/approval"));
    assert_eq!(harness.command(&take), Err(unknown));
    let register = Command::Register {
        executor: executor("seaway/approval"),
        subscriptions: Vec::new(),
        ttl: Span::from_secs(30),
    };
    assert_eq!(harness.command(&register), Err(reserved()));
    assert!(matches!(why(&harness, step), Some(Waiting::Approval { .. })));
}

#[test]
fn an_approval_with_a_time_limit_runs_out() {
    let mut harness = gated(None, Some(Span::from_secs(3_600)));
    let step = send(&mut harness, 1, "cart", None);
    harness.now = harness.now + Span::from_secs(3_601);
    harness.settle();
    assert_eq!(harness.ended(step.deployment), Some(Fact::Failed));
    let late = harness.command(&approve(step, Outcome::Pass, None));
    assert!(matches!(late, Err(Refusal::Ended(_))), "{late:?}");
}

#[test]
fn a_comment_never_stands_in_the_way_of_a_verdict_unless_it_is_a_book() {
    let mut harness = gated(None, None);
    let step = send(&mut harness, 1, "cart", None);
    let book = "x".repeat(Refusal::MAX_REASON + 1);
    let refused = harness.command(&approve(step, Outcome::Pass, Some(&book)));
    assert_eq!(refused, Err(Refusal::BadReason));
    let deployment = DeploymentId(uuid::Uuid::from_u128(2));
    let most = (1 << 20) - 20;
    let trigger = Command::Trigger {
        deployment,
        stage: name("dev"),
        sequence: name("delivery"),
        service: name("web"),
        version: "1".into(),
        known: None,
        data: Some(format!(r#"{{"a": "{}"}}"#, "x".repeat(most)).into()),
    };
    harness.command(&trigger).expect("it is not too much");
    harness.settle();
    let full = harness.step(deployment, "shop/dev/delivery#1/approval", Kind::TaskDone);
    let worst = "\u{1}".repeat(Refusal::MAX_REASON);
    for step in [full, step] {
        harness.command(&approve(step, Outcome::Pass, Some(&worst))).expect("the verdict counts");
    }
    harness.settle();
    assert_eq!(take(&mut harness, "winch"), 2, "both go on");
    harness.check_replay();
}

#[test]
fn what_is_being_aborted_or_is_no_approval_cannot_be_approved() {
    let mut harness = gated(None, None);
    let step = send(&mut harness, 1, "cart", None);
    let deployment = step.deployment;
    harness.command(&Command::Pause { deployment }).expect("it is under way");
    harness.command(&Command::Abort { deployment }).expect("it is under way");
    let refused = harness.command(&approve(step, Outcome::Pass, None));
    assert_eq!(refused, Err(Refusal::Aborting(deployment)));

    let mut harness = Harness::new();
    let edits = vec![stage("beta", &[]), sequence("beta", "delivery", vec![task("approval")])];
    harness.change(edits).expect("it is sound");
    let id = harness.start("cart", "1");
    harness.settle();
    let step = harness.step(id, "shop/beta/delivery#1/approval", Kind::TaskDone);
    assert_eq!(harness.command(&approve(step, Outcome::Pass, None)), Err(Refusal::NoApproval));
    assert_eq!(harness.claim(step, "agent").map(|it| it.lease), Ok(1), "executors do it there");
}

#[test]
fn a_paused_deployment_can_be_approved_and_goes_on_when_it_is_resumed() {
    let mut harness = gated(None, None);
    let step = send(&mut harness, 1, "cart", None);
    let deployment = step.deployment;
    harness.command(&Command::Pause { deployment }).expect("it is under way");
    harness.settle();
    harness.command(&approve(step, Outcome::Pass, None)).expect("it waits for a person");
    harness.settle();
    assert_eq!(take(&mut harness, "winch"), 0);
    harness.command(&Command::Resume { deployment }).expect("it is paused");
    harness.settle();
    assert_eq!(take(&mut harness, "winch"), 1);
    let fence = Fence { attempt: Attempt(1), lease: 1 };
    let refused = harness.command(&Command::GiveBack { step, fence });
    assert_eq!(refused, Err(Refusal::NotOffered), "what a person answered is over");
}
