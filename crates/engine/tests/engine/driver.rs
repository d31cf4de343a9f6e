use futures::future::join_all;
use seaway_engine::core::{Ask, Limits};
use seaway_engine::{Options, Overloaded, RequestError};
use seaway_kernel::{Command, Refusal, Reply};
use seaway_model::{ExecutorName, Outcome, Seq, Span};
use seaway_store::Checkpoint;

use crate::harbor::{Harbor, eventually};
use crate::requests::{by, claim, deployment, name, start, structure};

#[tokio::test]
async fn what_was_answered_is_durable_and_a_restart_gives_the_same_state() {
    let mut harbor = Harbor::open().await;
    harbor.define().await;
    for number in 1..=5 {
        let step = harbor.start(number).await;
        harbor.work(step, Outcome::Pass).await;
    }
    let head = harbor.store.head(&name("shop")).await.unwrap();
    assert_eq!(harbor.shop().durable(), head.seq);
    let digest = harbor.digest(&name("shop")).await;
    let harbor = harbor.restart().await;
    assert_eq!(harbor.digest(&name("shop")).await, digest);
    harbor.store.verify(&name("shop"), |_| ()).await.expect("the log is sound");
    harbor.close().await;
}

#[tokio::test]
async fn a_deployment_that_failed_can_be_retried_after_a_restart() {
    let mut harbor = Harbor::open().await;
    harbor.define().await;
    let step = harbor.start(1).await;
    harbor.work(step, Outcome::Fail).await;
    let mut harbor = harbor.restart().await;
    harbor
        .shop()
        .send(Command::Retry { step, data: None }, by())
        .await
        .expect("a failed step is retried");
    assert_eq!(harbor.offer().await, step);
    harbor.work(step, Outcome::Pass).await;
    let digest = harbor.digest(&name("shop")).await;
    let harbor = harbor.restart().await;
    assert_eq!(harbor.digest(&name("shop")).await, digest);
}

#[tokio::test]
async fn a_full_mailbox_refuses_and_says_when_to_come_back() {
    let few = Limits { mailbox: 2, ..Limits::default() };
    // As much as two requests take, and a little.
    let bytes = 2 * Ask::command(structure(), by(), Seq(0)).bytes() + 1;
    let small = Limits { bytes, ..Limits::default() };
    for limits in [few, small] {
        refuses_the_third(limits).await;
    }
}

async fn refuses_the_third(limits: Limits) {
    let harbor = Harbor::with(Options { limits, ..Options::default() }).await;
    let shop = harbor.shop();
    shop.inspect(|_| ()).await.expect("it loads");
    // All of them are posted before the task of the project gets to run.
    let answers = join_all((0..5).map(|_| shop.send(structure(), by()))).await;
    let retry_after = limits.retry_after;
    let overloaded = RequestError::Overloaded(Overloaded { retry_after });
    assert!(answers[..2].iter().all(Result::is_ok), "{answers:?}");
    assert!(answers[2..].iter().all(|answer| *answer == Err(overloaded.clone())), "{answers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graceful_stop_answers_everyone_and_loses_nothing() {
    let harbor = Harbor::open().await;
    harbor.define().await;
    let shop = harbor.shop();
    let callers: Vec<_> = (1..=300)
        .map(|number| {
            let shop = shop.clone();
            tokio::spawn(async move { (number, shop.send(start(number), by()).await) })
        })
        .collect();
    drop(shop);
    tokio::task::yield_now().await;
    let dir = harbor.close().await;
    let answers = join_all(callers).await;
    let harbor = Harbor::at(dir, Options::default()).await;
    let mut granted = 0;
    for answer in answers {
        let (number, answer) = answer.unwrap();
        let found = harbor.store.deployment(&name("shop"), deployment(number)).await.unwrap();
        match answer {
            Ok(Reply::Started { .. }) => assert!(found.is_some(), "{number} was acknowledged"),
            Err(RequestError::NotWritten { .. }) => assert!(found.is_none(), "{number}"),
            other => panic!("{number} was told {other:?}"),
        }
        granted += u32::from(found.is_some());
    }
    let known = harbor.shop().inspect(|kernel| kernel.deployments().count()).await.unwrap();
    assert_eq!(known, granted as usize);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_is_registered_once_however_many_start_it() {
    let harbor = Harbor::open().await;
    harbor.define().await;
    let same = |number| {
        let mut command = start(number);
        if let Command::Start { service, .. } = &mut command {
            *service = name("same");
        }
        command
    };
    let shop = harbor.shop();
    let answers = join_all((1..=50).map(|number| shop.send(same(number), by()))).await;
    let revisions = answers.into_iter().map(|answer| match answer {
        Ok(Reply::Started { revision, .. }) => revision.0,
        other => panic!("{other:?}"),
    });
    assert!(revisions.into_iter().all(|revision| revision == 1));
}

#[tokio::test]
async fn a_refusal_reaches_its_caller() {
    let mut harbor = Harbor::open().await;
    harbor.define().await;
    let step = harbor.start(1).await;
    harbor.shop().send(claim(step), by()).await.expect("it is offered");
    let again = harbor.shop().send(claim(step), by()).await;
    assert!(matches!(again, Err(RequestError::Refused(Refusal::HeldBy(_)))), "{again:?}");
}

#[tokio::test]
async fn an_id_is_used_once_even_when_its_deployment_has_left_memory() {
    let mut harbor = Harbor::open().await;
    harbor.define().await;
    let step = harbor.start(1).await;
    harbor.work(step, Outcome::Fail).await;
    let exists = Err(RequestError::Refused(Refusal::DeploymentExists(deployment(1))));
    assert_eq!(harbor.shop().send(start(1), by()).await, exists);
    let harbor = harbor.restart().await;
    assert_eq!(harbor.shop().send(start(1), by()).await, exists);
}

#[tokio::test]
async fn a_project_that_nobody_uses_leaves_memory_and_comes_back() {
    let harbor = Harbor::open().await;
    harbor.define().await;
    let digest = harbor.digest(&name("shop")).await;
    // A checkpoint that is of no use is set aside by the next load, which nothing else shows.
    let head = harbor.store.head(&name("shop")).await.unwrap();
    let (seq, hash) = (head.seq, head.hash);
    let useless = Checkpoint { seq, hash, state_digest: digest, bytes: vec![0] };
    harbor.store.put_checkpoint(&name("shop"), &useless).await.unwrap();
    tokio::time::pause();
    eventually("another load", async || {
        tokio::time::advance(Options::default().idle_after * 2).await;
        // While the store is asked, the task of the project finds out that it is late.
        let left = harbor.store.checkpoint(&name("shop")).await.unwrap();
        assert_eq!(harbor.digest(&name("shop")).await, digest);
        left.is_none().then_some(())
    })
    .await;
    harbor.shop().send(start(1), by()).await.expect("it still owns the project");
}

#[tokio::test]
async fn a_lease_that_nobody_renews_runs_out_by_itself() {
    let mut harbor = Harbor::open().await;
    harbor.define().await;
    let step = harbor.start(1).await;
    let claim =
        Command::Claim { step, executor: ExecutorName("agent".into()), ttl: Span::from_secs(1) };
    let reply = harbor.shop().send(claim, by()).await;
    let Ok(Reply::Claimed { fence, .. }) = reply else { panic!("{reply:?}") };
    harbor.shop().renew(step, fence).await.expect("the holder may renew");
    assert_eq!(harbor.offer().await, step, "it is offered again");
    let late = harbor.shop().renew(step, fence).await;
    assert!(matches!(late, Err(RequestError::Refused(_))), "{late:?}");
}

#[tokio::test]
async fn checkpoints_are_written_beside_the_log_and_used_by_the_next_load() {
    let mut harbor = Harbor::with(Options { checkpoint_every: 10, ..Options::default() }).await;
    harbor.define().await;
    for number in 1..=8 {
        let step = harbor.start(number).await;
        harbor.work(step, Outcome::Pass).await;
    }
    let checkpoint =
        eventually("a checkpoint", async || harbor.store.checkpoint(&name("shop")).await.unwrap())
            .await;
    assert!(checkpoint.seq > Seq(0));
    let digest = harbor.digest(&name("shop")).await;
    let harbor = harbor.restart().await;
    assert_eq!(harbor.digest(&name("shop")).await, digest);
    let used = harbor.store.checkpoint(&name("shop")).await.unwrap();
    assert!(used.is_some(), "it was not set aside");
}
