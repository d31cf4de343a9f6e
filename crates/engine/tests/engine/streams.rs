use seaway_engine::SubscriptionError;
use seaway_model::{Outcome, Seq};

use crate::harbor::Harbor;
use crate::requests::{by, start};

#[tokio::test]
async fn a_reader_resumes_from_every_position_without_gap_or_duplicate() {
    let mut harbor = Harbor::open().await;
    harbor.define().await;
    for number in 1..=3 {
        let step = harbor.start(number).await;
        harbor.work(step, Outcome::Pass).await;
    }
    let head = harbor.shop().durable();
    for after in 0..=head.0 {
        let mut reader = harbor.shop().subscribe(Seq(after)).await.unwrap();
        let mut next = after + 1;
        while reader.after() < head {
            for row in reader.next().await.unwrap() {
                assert_eq!(row.seq, Seq(next));
                next += 1;
            }
        }
        assert_eq!(next, head.0 + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_follows_the_log_while_it_grows() {
    let harbor = Harbor::open().await;
    harbor.define().await;
    let shop = harbor.shop();
    let mut reader = shop.subscribe(Seq(0)).await.unwrap();
    let follower = tokio::spawn(async move {
        let mut seen = Vec::new();
        loop {
            match reader.next().await {
                Ok(rows) => seen.extend(rows.into_iter().map(|row| row.seq.0)),
                Err(SubscriptionError::Ended { .. }) => return seen,
                Err(other) => panic!("{other}"),
            }
        }
    });
    for number in 1..=100 {
        shop.send(start(number), by()).await.expect("it can be started");
    }
    let head = shop.durable();
    harbor.close().await;
    let seen = follower.await.unwrap();
    assert!(seen.len() as u64 >= head.0);
    assert!(seen.iter().copied().eq(1..=seen.len() as u64), "gapless and in order");
}

#[tokio::test]
async fn a_position_that_was_never_written_is_an_error() {
    let harbor = Harbor::open().await;
    harbor.define().await;
    let head = harbor.shop().durable();
    let reader = harbor.shop().subscribe(head.next()).await;
    assert!(matches!(reader, Err(SubscriptionError::AheadOfLog { .. })), "{reader:?}");
}
