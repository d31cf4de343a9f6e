//! A request that is sent again under its key has no second effect.

use futures::future::join_all;
use seaway_engine::RequestError;
use seaway_engine::core::{Ask, Limits, Seen};
use seaway_kernel::{Command, Refusal, Reply};
use seaway_model::{Digest, Fact, Seq};

use crate::harbor::Harbor;
use crate::quay::Quay;
use crate::requests::{by, deployment, name, trigger, yard};

fn key(number: u8) -> Digest {
    Digest([number; 32])
}

fn keyed(command: Command, key: Digest, as_of: Seq) -> Ask {
    // An id that nobody used before: the store was asked.
    let seen = Seen { as_of, fresh: matches!(command, Command::Trigger { .. }) };
    Ask::Command { command, by: by(), seen, key: Some(key) }
}

fn starts(quay: &Quay) -> usize {
    let started = |row: &&seaway_wire::Row| row.kind == seaway_model::Kind::PipelineStarted;
    quay.disk.rows.iter().filter(started).count()
}

fn last(quay: &Quay) -> Seq {
    quay.disk.end().seq
}

#[test]
fn twice_in_one_batch_is_done_once_and_kept_once() {
    let mut quay = Quay::new(Limits::default());
    let as_of = last(&quay);
    // Whoever repeats it may not even use the same id.
    let first = quay.ask(keyed(trigger(1), key(1), as_of));
    let second = quay.ask(keyed(trigger(2), key(1), as_of));
    let other = quay.ask(keyed(trigger(3), key(2), as_of));
    quay.settle();
    assert_eq!(quay.answer(first), quay.answer(second));
    let Some(Ok(Reply::Started { deployment: given, .. })) = quay.answer(second) else {
        panic!("{:?}", quay.answer(second));
    };
    assert_eq!(*given, deployment(1));
    assert_ne!(quay.answer(first), quay.answer(other));
    assert_eq!((starts(&quay), quay.kept.len()), (2, 2));
}

#[test]
fn while_the_first_is_being_written_the_second_waits_for_the_same_answer() {
    let mut quay = Quay::new(Limits::default());
    let as_of = last(&quay);
    let first = quay.ask(keyed(trigger(1), key(1), as_of));
    let append = quay.poll().expect("it starts");
    let second = quay.ask(keyed(trigger(1), key(1), as_of));
    assert!(quay.poll().is_none());
    assert_eq!((quay.answer(first), quay.answer(second)), (None, None));
    quay.commit(append);
    assert!(matches!(quay.answer(first), Some(Ok(Reply::Started { .. }))));
    assert_eq!(quay.answer(first), quay.answer(second));
    let third = quay.ask(keyed(trigger(1), key(1), as_of));
    quay.settle();
    assert_eq!(quay.answer(first), quay.answer(third));
    assert_eq!((starts(&quay), quay.kept.len()), (1, 1));
}

#[test]
fn what_was_lost_in_a_crash_is_done_when_it_comes_again() {
    let mut quay = Quay::new(Limits::default());
    quay.ask(keyed(trigger(1), key(1), last(&quay)));
    assert!(quay.poll().is_some(), "it never reaches the disk");
    quay.crash();
    let again = quay.ask(keyed(trigger(1), key(1), last(&quay)));
    quay.settle();
    assert!(matches!(quay.answer(again), Some(Ok(Reply::Started { .. }))));
    assert_eq!((starts(&quay), quay.kept.len()), (1, 1));
}

#[test]
fn a_refusal_is_not_an_answer_to_keep() {
    let mut quay = Quay::new(Limits::default());
    quay.send(trigger(1));
    quay.settle();
    let resume = || Command::Resume { deployment: deployment(1) };
    let refused = quay.ask(keyed(resume(), key(1), last(&quay)));
    quay.settle();
    let not_paused = RequestError::Refused(Refusal::NotPaused(deployment(1)));
    assert_eq!(quay.answer(refused), Some(&Err(not_paused)));
    quay.send(Command::Pause { deployment: deployment(1) });
    let again = quay.ask(keyed(resume(), key(1), last(&quay)));
    quay.settle();
    assert!(matches!(quay.answer(again), Some(Ok(Reply::Done { .. }))));
    assert_eq!(quay.kept.len(), 1);
}

#[test]
fn a_look_for_a_key_that_lies_too_far_back_is_stale() {
    let mut quay = Quay::new(Limits::default());
    quay.send(trigger(1));
    quay.settle();
    let as_of = last(&quay);
    let mut answers = 0;
    let mut change = |quay: &mut Quay, key: Digest| {
        let command = match answers % 2 {
            0 => Command::Pause { deployment: deployment(1) },
            _ => Command::Resume { deployment: deployment(1) },
        };
        answers += 1;
        let ticket = quay.ask(keyed(command, key, as_of));
        quay.settle();
        quay.answer(ticket).cloned()
    };
    for number in 0..6_001_u32 {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&number.to_le_bytes());
        assert!(matches!(change(&mut quay, Digest(bytes)), Some(Ok(Reply::Done { .. }))));
    }
    assert_eq!(change(&mut quay, Digest([9; 32])), Some(Err(RequestError::StaleLookup)));
    // The first one was forgotten here; only a fresh look finds it in the store.
    assert_eq!(change(&mut quay, Digest([0; 32])), Some(Err(RequestError::StaleLookup)));
    let mut recent = [0; 32];
    recent[..4].copy_from_slice(&6_000_u32.to_le_bytes());
    assert!(matches!(change(&mut quay, Digest(recent)), Some(Ok(Reply::Done { .. }))));
}

async fn records(harbor: &Harbor, fact: Fact) -> usize {
    let rows = harbor.store.rows(&name("shop"), Seq(0), 10_000).await.expect("it can be read");
    rows.iter().filter(|row| row.fact == fact).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_often_and_however_fast_it_is_sent_it_is_done_once() {
    let harbor = Harbor::open().await;
    let shop = harbor.shop();
    shop.send(yard(), by()).await.expect("it is sound");
    let callers: Vec<_> = (1..=50)
        .map(|number| {
            let shop = shop.clone();
            let send = async move { shop.send_once(trigger(number), by(), Some(key(1))).await };
            tokio::spawn(send)
        })
        .collect();
    let answers: Vec<_> = join_all(callers).await.into_iter().map(Result::unwrap).collect();
    let first = answers[0].clone();
    assert!(matches!(first, Ok(Reply::Started { .. })), "{first:?}");
    assert!(answers.iter().all(|answer| *answer == first), "{answers:?}");
    let known = shop.inspect(|kernel| kernel.deployments().count()).await;
    assert_eq!(known, Ok(1));
    drop(shop);
    harbor.close().await;
}

#[tokio::test]
async fn after_a_restart_the_store_knows_what_was_answered() {
    let harbor = Harbor::open().await;
    let shop = harbor.shop();
    shop.send(yard(), by()).await.expect("it is sound");
    let started = shop.send_once(trigger(1), by(), Some(key(1))).await;
    let pause = || Command::Pause { deployment: deployment(1) };
    let paused = shop.send_once(pause(), by(), Some(key(2))).await;
    let resume = || Command::Resume { deployment: deployment(1) };
    let resumed = shop.send_once(resume(), by(), Some(key(3))).await;
    drop(shop);
    let harbor = harbor.restart().await;
    let shop = harbor.shop();
    let head = harbor.store.head(&name("shop")).await.expect("it can be asked");
    assert_eq!(shop.send_once(trigger(7), by(), Some(key(1))).await, started);
    assert_eq!(shop.send_once(pause(), by(), Some(key(2))).await, paused);
    assert_eq!(shop.send_once(resume(), by(), Some(key(3))).await, resumed);
    assert_eq!(harbor.store.head(&name("shop")).await.expect("it can be asked"), head);
    assert!(matches!(started, Ok(Reply::Started { .. })), "{started:?}");
    let again = shop.send_once(pause(), by(), Some(key(4))).await;
    assert!(matches!(again, Ok(Reply::Done { .. })), "another key is another request: {again:?}");
    assert_eq!(records(&harbor, Fact::Paused).await, 2);
    harbor.store.verify(&name("shop"), |_| ()).await.expect("the log is sound");
    drop(shop);
    harbor.close().await;
}

#[tokio::test]
async fn an_append_that_was_refused_keeps_no_answer() {
    let harbor = Harbor::open().await;
    harbor.shop().send(yard(), by()).await.expect("it is sound");
    harbor.store.acquire(&name("shop"), "other").await.expect("anybody may");
    let lost = harbor.shop().send_once(trigger(1), by(), Some(key(1))).await;
    assert_eq!(lost, Err(RequestError::NotOwner));
    let shop = harbor.engine.reopen(&name("shop"));
    let done = shop.send_once(trigger(1), by(), Some(key(1))).await;
    assert!(matches!(done, Ok(Reply::Started { .. })), "{done:?}");
    assert_eq!(shop.send_once(trigger(2), by(), Some(key(1))).await, done);
    let bank = harbor.engine.project(&name("bank"));
    bank.send(yard(), by()).await.expect("it is sound");
    let elsewhere = bank.send_once(trigger(2), by(), Some(key(1))).await;
    assert!(matches!(elsewhere, Ok(Reply::Started { deployment: it, .. }) if it == deployment(2)));
}
