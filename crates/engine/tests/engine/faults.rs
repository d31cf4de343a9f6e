use futures::future::join_all;
use seaway_engine::{Options, RequestError};
use seaway_kernel::Kernel;
use seaway_model::{Digest, Outcome};

use crate::harbor::{Harbor, eventually};
use crate::requests::{by, deployment, name, start, structure};

#[tokio::test]
async fn an_owner_that_was_replaced_finds_out_and_stops_writing() {
    let harbor = Harbor::open().await;
    harbor.define().await;
    let before = harbor.store.head(&name("shop")).await.unwrap();
    harbor.store.acquire(&name("shop"), "other").await.unwrap();
    let answer = harbor.shop().send(start(1), by()).await;
    assert_eq!(answer, Err(RequestError::NotOwner));
    assert_eq!(harbor.store.head(&name("shop")).await.unwrap(), before);
    let answer = harbor.shop().send(start(1), by()).await;
    assert_eq!(answer, Err(RequestError::NotOwner));

    let bank = harbor.engine.project(&name("bank"));
    bank.send(structure(), by()).await.expect("other projects go on");
    let shop = harbor.engine.reopen(&name("shop"));
    shop.send(start(1), by()).await.expect("ownership was taken back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_is_replaced_under_load_grants_nothing_that_is_not_written() {
    let harbor = Harbor::open().await;
    harbor.define().await;
    let shop = harbor.shop();
    let callers: Vec<_> = (1..=400)
        .map(|number| {
            let shop = shop.clone();
            tokio::spawn(async move { (number, shop.send(start(number), by()).await) })
        })
        .collect();
    let enough = harbor.shop().durable().0 + 50;
    eventually("some progress", async || {
        let head = harbor.store.head(&name("shop")).await.unwrap();
        (head.seq.0 >= enough).then_some(())
    })
    .await;
    harbor.store.acquire(&name("shop"), "other").await.unwrap();
    for answer in join_all(callers).await {
        let (number, answer) = answer.unwrap();
        let found = harbor.store.deployment(&name("shop"), deployment(number)).await.unwrap();
        match answer {
            Ok(_) => assert!(found.is_some(), "{number} was granted"),
            Err(RequestError::NotOwner) => assert!(found.is_none(), "{number} was refused"),
            other => panic!("{number} was told {other:?}"),
        }
    }
    // Where all were granted before, the next request is the one that finds out.
    eventually("ownership is taken back", async || {
        harbor.engine.reopen(&name("shop")).send(start(401), by()).await.ok()
    })
    .await;
    harbor.store.verify(&name("shop"), |_| ()).await.expect("the log is sound");
}

#[tokio::test]
async fn a_panic_stops_only_the_request_that_caused_it() {
    let harbor = Harbor::open().await;
    harbor.define().await;
    let digest = harbor.digest(&name("shop")).await;
    let answer = harbor.shop().inspect(|_| panic!("on purpose")).await;
    assert_eq!(answer, Err::<(), _>(RequestError::Unknown));
    let bank = harbor.engine.project(&name("bank"));
    bank.send(structure(), by()).await.expect("other projects go on");
    let again = eventually("the project is loaded again", async || {
        harbor.shop().inspect(Kernel::digest).await.ok()
    })
    .await;
    assert_eq!(again, digest);
    harbor.shop().send(start(1), by()).await.expect("it is written again");
}

#[tokio::test]
async fn a_damaged_log_stops_only_its_project() {
    let mut harbor = Harbor::open().await;
    harbor.define().await;
    harbor.start(1).await;
    let dir = harbor.close().await;
    let database = rusqlite::Connection::open(dir.path().join("seaway.db")).unwrap();
    database.execute("UPDATE record SET attempt = 7 WHERE seq = 3", []).unwrap();
    drop(database);

    let harbor = Harbor::at(dir, Options::default()).await;
    let answer = harbor.shop().send(start(2), by()).await;
    let Err(RequestError::Broken(why)) = answer else { panic!("{answer:?}") };
    assert!(why.contains("record 3"), "{why}");
    let bank = harbor.engine.project(&name("bank"));
    bank.send(structure(), by()).await.expect("other projects go on");
}

#[tokio::test]
async fn a_checkpoint_that_disagrees_is_set_aside_and_the_log_is_folded() {
    let mut harbor = Harbor::open().await;
    harbor.define().await;
    let step = harbor.start(1).await;
    harbor.work(step, Outcome::Pass).await;
    let digest = harbor.digest(&name("shop")).await;
    let head = harbor.store.head(&name("shop")).await.unwrap();
    let wrong = seaway_store::Checkpoint {
        seq: head.seq,
        hash: head.hash,
        state_digest: Digest([7; 32]),
        bytes: vec![1, 2, 3],
    };
    harbor.store.put_checkpoint(&name("shop"), &wrong).await.unwrap();
    let harbor = harbor.restart().await;
    assert_eq!(harbor.digest(&name("shop")).await, digest);
    assert_eq!(harbor.store.checkpoint(&name("shop")).await.unwrap(), None);
}

#[tokio::test]
async fn a_project_that_does_not_exist_is_said_to() {
    let harbor = Harbor::open().await;
    let answer = harbor.engine.project(&name("nowhere")).send(structure(), by()).await;
    let Err(RequestError::Broken(why)) = answer else { panic!("{answer:?}") };
    assert!(why.contains("create it first"), "{why}");
}
