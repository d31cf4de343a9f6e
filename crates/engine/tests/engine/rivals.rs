use seaway_engine::{RequestError, Subscription};
use seaway_kernel::Command;
use seaway_model::{Outcome, Seq};

use crate::postgres::{database, harbor};
use crate::requests::{by, deployment, name, start};

async fn read_up_to(reader: &mut Subscription, head: Seq) {
    while reader.after() < head {
        let expected = reader.after().next();
        let rows = reader.next().await.expect("the log goes on");
        assert!(rows.iter().zip(expected.0..).all(|(row, seq)| row.seq.0 == seq), "no gap");
    }
    assert_eq!(reader.after(), head);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_engines_the_older_is_fenced_and_its_readers_see_what_the_newer_writes() {
    let Some(url) = database("two_engines").await else { return };
    let old = harbor(&url, "old").await;
    old.define().await;
    old.shop().send(start(1), by()).await.expect("it owns the project");
    let mut reader = old.shop().subscribe(Seq(0)).await.expect("the log can be read");

    let mut new = harbor(&url, "new").await;
    let step = new.start(2).await;
    new.work(step, Outcome::Fail).await;
    read_up_to(&mut reader, new.shop().durable()).await;
    // It does not know the deployment, and must not learn of it from records that it did not write.
    let answer = old.shop().send(Command::Pause { deployment: deployment(2) }, by()).await;
    assert_eq!(answer, Err(RequestError::NotOwner));
    for number in [3, 4] {
        let answer = old.shop().send(start(number), by()).await;
        assert_eq!(answer, Err(RequestError::NotOwner));
    }

    new.shop().send(start(3), by()).await.expect("the newer goes on");
    read_up_to(&mut reader, new.shop().durable()).await;
    let digest = new.digest(&name("shop")).await;
    let taken_back = old.engine.reopen(&name("shop"));
    let again = taken_back.inspect(seaway_kernel::Kernel::digest).await;
    assert_eq!(again, Ok(digest));
    taken_back.send(start(4), by()).await.expect("ownership was taken back");
    assert_eq!(new.shop().send(start(5), by()).await, Err(RequestError::NotOwner));
    old.store.verify(&name("shop"), |_| ()).await.expect("the log is sound");

    drop(taken_back);
    old.stop().await;
    let ended = reader.next().await.map(|rows| rows.len());
    // What was written last may be handed out before the end is.
    assert!(ended.is_err() || reader.next().await.is_err(), "the engine has stopped");
    new.stop().await;
}
