use std::time::Duration;

use seaway_executor::{Stop, Summary, Worker, WorkerError, WorkerOptions};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::harbor::{Harbor, options};
use crate::stage::{Book, assert_gone, script, task, until};

type Run = JoinHandle<Result<Summary, WorkerError>>;

async fn work(harbor: &Harbor, options: WorkerOptions) -> (watch::Sender<Stop>, Run) {
    let worker = Worker::new(harbor.clone().open().await, options);
    let (stop, stopping) = watch::channel(Stop::No);
    (stop, tokio::spawn(worker.run(stopping)))
}

#[tokio::test]
async fn tasks_are_claimed_answered_and_drained() {
    let harbor = Harbor::default();
    (1..=6).for_each(|number| harbor.offer(task(number, &json!({"code": number % 2}))));
    let definitions = script("exit $CODE", "env: {CODE: '{{ test.code }}'}");
    let options = WorkerOptions { concurrency: 2, ..options(definitions) };
    let (stop, run) = work(&harbor, options).await;
    until(|| harbor.log().told().len() == 12).await;
    stop.send_replace(Stop::Drain);
    let summary = run.await.unwrap().unwrap();
    assert_eq!(summary, Summary { passed: 3, failed: 3, ..Summary::default() });
    let log = harbor.log();
    assert_eq!((log.registered.len(), log.left), (1, 1));
    assert_eq!(log.registered[0].subscriptions[0].task, "test");
    assert!(log.claims.iter().all(|it| (1..=2).contains(&it.max)), "{:?}", log.claims);
    let mut running = 0;
    for event in &log.events {
        running = if event.ty.ends_with("started") { running + 1 } else { running - 1 };
        assert!((0..=2).contains(&running), "{:?}", log.told());
    }
    let finished = log.events.iter().find(|it| it.id == "t-1.finished").unwrap();
    assert_eq!(finished.data["project"], "shop");
    assert_eq!(finished.data["result"], "fail");
    assert_eq!(finished.data["status"], "succeeded");
    assert_eq!(finished.data["message"], "exit code 1");
}

#[tokio::test]
async fn a_task_that_is_taken_away_ends_its_command_and_says_nothing() {
    for status in [404, 409] {
        let (harbor, book) = (Harbor::default(), Book::new());
        harbor.log().renewals_refused = Some(status);
        harbor.offer(task(1, &json!({})));
        let definitions = script("eval \"$STAY\"", &book.env());
        let (stop, run) = work(&harbor, options(definitions)).await;
        book.signed(1).await;
        let pids = book.pids();
        until(|| harbor.log().claims.len() > 1).await;
        stop.send_replace(Stop::Drain);
        let summary = run.await.unwrap().unwrap();
        assert_eq!(summary, Summary { lost: 1, ..Summary::default() });
        assert_gone(&pids);
        assert_eq!(harbor.log().told(), ["t-1 test.started"]);
    }
}

#[tokio::test]
async fn a_server_that_is_away_for_a_while_is_waited_for() {
    let harbor = Harbor::default();
    harbor.log().claims_refused = [503, 500].into();
    harbor.log().refusals = [("started", 503), ("finished", 500)].into();
    harbor.offer(task(1, &json!({})));
    let (stop, run) = work(&harbor, options(script("exit 0", ""))).await;
    until(|| harbor.log().told().len() == 2).await;
    harbor.log().refusals = [("finished", 503), ("finished", 503)].into();
    harbor.offer(task(2, &json!({})));
    until(|| harbor.log().told().len() == 4).await;
    stop.send_replace(Stop::Drain);
    assert_eq!(run.await.unwrap().unwrap(), Summary { passed: 2, ..Summary::default() });
}

#[tokio::test]
async fn a_command_goes_on_while_its_lease_may_be_good_and_not_longer() {
    let (harbor, book) = (Harbor::default(), Book::new());
    harbor.log().renewals_refused = Some(503);
    harbor.offer(task(1, &json!({})));
    let (stop, run) = work(&harbor, options(script("eval \"$STAY\"", &book.env()))).await;
    until(|| harbor.log().renewals > 1).await;
    assert!(book.pids().into_iter().all(crate::stage::is_alive), "one more may go well");
    harbor.log().renewals_refused = None;
    let before = harbor.log().renewals;
    until(|| harbor.log().renewals > before + 1).await;
    assert!(book.pids().into_iter().all(crate::stage::is_alive), "it went well");
    harbor.log().renewals_refused = Some(503);
    until(|| !book.pids().into_iter().any(crate::stage::is_alive)).await;
    stop.send_replace(Stop::Drain);
    assert_eq!(run.await.unwrap().unwrap(), Summary { lost: 1, ..Summary::default() });
}

#[tokio::test]
async fn a_worker_that_is_stopped_by_force_says_so() {
    let (harbor, book) = (Harbor::default(), Book::new());
    harbor.offer(task(1, &json!({})));
    let (stop, run) = work(&harbor, options(script("eval \"$STAY\"", &book.env()))).await;
    book.signed(1).await;
    until(|| harbor.log().claims.len() == 2 && harbor.log().polls == 1).await;
    stop.send_replace(Stop::Drain);
    until(|| harbor.log().polls == 0).await;
    harbor.offer(task(2, &json!({})));
    until(|| harbor.log().renewals > 0).await;
    assert!(!run.is_finished(), "it waits for what runs");
    stop.send_replace(Stop::Now);
    assert_eq!(run.await.unwrap().unwrap(), Summary { failed: 1, ..Summary::default() });
    assert_gone(&book.pids());
    let log = harbor.log();
    assert_eq!(log.told(), ["t-1 test.started", "t-1 test.finished"]);
    let said = &log.events[1].data;
    assert_eq!((&said["result"], &said["status"]), (&json!("fail"), &json!("errored")));
    assert_eq!(said["message"], "the worker was stopped");
    assert_eq!(log.waiting.len(), 1, "nothing was claimed any more");
}

#[tokio::test]
async fn draining_has_an_end() {
    let (harbor, book) = (Harbor::default(), Book::new());
    harbor.offer(task(1, &json!({})));
    let options = options(script("eval \"$STAY\"", &book.env()));
    let options = WorkerOptions { drain: Duration::from_millis(50), replica: true, ..options };
    let (stop, run) = work(&harbor, options).await;
    book.signed(1).await;
    stop.send_replace(Stop::Drain);
    run.await.unwrap().unwrap();
    assert_gone(&book.pids());
    assert_eq!(harbor.log().left, 0, "others with its name go on");
}

#[tokio::test]
async fn an_answer_that_is_refused_is_replaced() {
    let harbor = Harbor::default();
    harbor.log().refusals = [("finished", 422)].into();
    harbor.offer(task(1, &json!({})));
    let text = "echo '{\"data\": {\"a\": 1}}' > $SEAWAY_RESULT";
    let (stop, run) = work(&harbor, options(script(text, ""))).await;
    until(|| harbor.log().told().len() == 2).await;
    stop.send_replace(Stop::Drain);
    assert_eq!(run.await.unwrap().unwrap(), Summary { failed: 1, ..Summary::default() });
    let log = harbor.log();
    assert_eq!(log.told(), ["t-1 test.started", "t-1 test.finished"]);
    assert_eq!(log.events[1].data["message"], "the answer of the command was refused: no");
    assert_eq!(log.events[1].data.get("a"), None);
}

#[tokio::test]
async fn a_worker_that_was_forgotten_registers_again_and_one_that_is_denied_ends() {
    let harbor = Harbor::default();
    harbor.log().claims_refused = [404, 403].into();
    let (_stop, run) = work(&harbor, options(script("exit 0", ""))).await;
    let error = run.await.unwrap().unwrap_err();
    assert!(matches!(error, WorkerError::Denied { .. }), "{error}");
    assert_eq!(harbor.log().registered.len(), 2);
}

#[tokio::test]
async fn a_task_without_a_definition_is_answered() {
    let harbor = Harbor::default();
    harbor.offer(task(1, &json!({})));
    let definitions = script("exit 0", "services: [web]");
    let (stop, run) = work(&harbor, options(definitions)).await;
    until(|| harbor.log().told().len() == 1).await;
    stop.send_replace(Stop::Drain);
    assert_eq!(run.await.unwrap().unwrap(), Summary { failed: 1, ..Summary::default() });
    assert_eq!(harbor.log().events[0].data["status"], "errored");
}
