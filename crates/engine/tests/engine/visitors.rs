//! Callers that wait for work, and go away, on a real store.

use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use seaway_engine::{Obstacle, ProjectHandle, RequestError};
use seaway_kernel::{Command, Report, Taken};
use seaway_model::{Fact, Outcome, Seq, Span};

use crate::harbor::{Harbor, eventually};
use crate::requests::{by, executor, name, register, trigger, yard};

const TTL: Span = Span::from_secs(600);

async fn harbor() -> Harbor {
    let harbor = Harbor::open().await;
    harbor.shop().send(yard(), by()).await.expect("it is sound");
    harbor.shop().send(register("winch", 1_000), by()).await.expect("it may register");
    harbor
}

async fn take(shop: ProjectHandle, patience: Span) -> Result<Vec<Taken>, RequestError> {
    shop.take(executor("winch"), 1, TTL, patience, by()).await
}

/// Everything that was sent before has been decided.
async fn decided(shop: &ProjectHandle) {
    shop.heartbeat(executor("winch")).await.expect("it is registered");
}

/// Long before a lease ends.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    let soon = tokio::time::timeout(Duration::from_secs(60), future).await;
    soon.expect("it does not wait for a lease to end")
}

async fn claims(harbor: &Harbor) -> usize {
    let rows = harbor.store.rows(&name("shop"), Seq(0), 10_000).await.expect("it can be read");
    rows.iter().filter(|row| row.fact == Fact::Claimed).count()
}

#[tokio::test]
async fn what_is_handed_out_is_durable_and_its_holder_can_end_it() {
    let harbor = harbor().await;
    let shop = harbor.shop();
    let waiting = tokio::spawn(take(shop.clone(), TTL));
    shop.send(trigger(1), by()).await.expect("the sequence is there");
    let tasks = soon(waiting).await.unwrap().expect("there is work");
    assert_eq!(claims(&harbor).await, 1);
    let (step, fence) = (tasks[0].step, tasks[0].fence);
    let report = Report::Ended(Outcome::Pass);
    let ended = Command::Report { step, fence, report, answer: None };
    shop.send(ended, by()).await.expect("the holder's answer counts");
    let left = shop.inspect(|kernel| kernel.deployments().count()).await;
    assert_eq!(left, Ok(0), "the deployment is over");
    let nothing = soon(take(shop.clone(), Span::from_millis(20))).await;
    assert_eq!(nothing, Ok(Vec::new()), "patience ends");
}

#[tokio::test]
async fn what_was_meant_for_a_caller_that_went_away_goes_to_the_next_at_once() {
    let harbor = harbor().await;
    let shop = harbor.shop();
    let mut gone = Box::pin(take(shop.clone(), TTL));
    assert!(gone.as_mut().now_or_never().is_none(), "it waits");
    decided(&shop).await;
    drop(gone);
    let next = tokio::spawn(take(shop.clone(), TTL));
    decided(&shop).await;
    shop.send(trigger(1), by()).await.expect("the sequence is there");
    let tasks = soon(next).await.unwrap().expect("there is work");
    assert_eq!(tasks[0].fence.lease, 2, "the first lease was given back");
    assert_eq!(claims(&harbor).await, 2);
    harbor.store.verify(&name("shop"), |_| ()).await.expect("the log is sound");
}

#[tokio::test]
async fn an_answer_that_nobody_picks_up_is_given_back() {
    let harbor = harbor().await;
    let shop = harbor.shop();
    let mut gone = Box::pin(take(shop.clone(), TTL));
    assert!(gone.as_mut().now_or_never().is_none(), "it waits");
    shop.send(trigger(1), by()).await.expect("the sequence is there");
    eventually("it is handed out", async || (claims(&harbor).await == 1).then_some(())).await;
    decided(&shop).await;
    // The answer lies there, and whoever wanted it leaves without a look.
    drop(gone);
    let tasks = soon(take(shop.clone(), TTL)).await.expect("there is work");
    assert_eq!(tasks[0].fence.lease, 2, "the first lease was given back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_sends_everybody_away_who_waits() {
    let harbor = harbor().await;
    let shop = harbor.shop();
    let waiting: Vec<_> = (0..100).map(|_| tokio::spawn(take(shop.clone(), TTL))).collect();
    decided(&shop).await;
    let late: Vec<_> = (0..100).map(|_| tokio::spawn(take(shop.clone(), TTL))).collect();
    drop(shop);
    soon(harbor.close()).await;
    for answer in join_all(waiting.into_iter().chain(late)).await {
        let answer = answer.unwrap();
        let stopping = |error: &RequestError| {
            matches!(error, RequestError::NotWritten { why: Obstacle::Stopping, .. })
        };
        let empty = answer.as_ref().is_ok_and(Vec::is_empty);
        assert!(empty || answer.as_ref().is_err_and(stopping), "{answer:?}");
    }
}

#[tokio::test]
async fn an_owner_that_is_replaced_tells_those_who_wait() {
    let harbor = harbor().await;
    let shop = harbor.shop();
    let waiting: Vec<_> = (0..3).map(|_| tokio::spawn(take(shop.clone(), TTL))).collect();
    decided(&shop).await;
    harbor.store.acquire(&name("shop"), "other").await.expect("anybody may");
    let refused = shop.send(trigger(1), by()).await;
    assert_eq!(refused, Err(RequestError::NotOwner));
    for answer in soon(join_all(waiting)).await {
        assert_eq!(answer.unwrap(), Err(RequestError::NotOwner));
    }
    assert_eq!(claims(&harbor).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_replicas_share_the_work_and_nobody_gets_what_another_has() {
    let harbor = harbor().await;
    let shop = harbor.shop();
    let replicas: Vec<_> = (0..20)
        .map(|_| {
            let shop = shop.clone();
            tokio::spawn(async move {
                let mut done = Vec::new();
                while done.len() < 10 {
                    let tasks = take(shop.clone(), TTL).await.expect("the engine runs");
                    done.extend(tasks.into_iter().map(|it| (it.step, it.fence)));
                }
                done
            })
        })
        .collect();
    for number in 1..=200 {
        shop.send(trigger(number), by()).await.expect("the sequence is there");
    }
    let mut all: Vec<_> =
        soon(join_all(replicas)).await.into_iter().flat_map(Result::unwrap).collect();
    all.sort_unstable_by_key(|(step, _)| *step);
    all.dedup();
    assert_eq!((all.len(), claims(&harbor).await), (200, 200));
    assert!(all.iter().all(|(_, fence)| fence.lease == 1));
}
