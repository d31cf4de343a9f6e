use std::collections::BTreeSet;

use futures::future::join_all;
use seaway_engine::RequestError;
use seaway_kernel::{
    Command, Edit, Entry, Event, On, Refusal, Reply, Selector, Sequence, StructureChange,
    Subscription, Task, Trigger,
};
use seaway_model::{ExecutorName, Outcome, Span};

use crate::harbor::Harbor;
use crate::requests::{by, deployment, name};

/// A stage whose only sequence starts on `problem.open` from outside.
fn listening() -> Command {
    let on = On::Event(Event::Domain("problem.open".into()));
    let trigger = Trigger { on, selector: Selector::default() };
    let tasks = vec![Task::new(name("restart"))];
    let definition = Sequence { tasks, triggers: vec![trigger], ..Sequence::default() };
    Command::ChangeStructure(StructureChange(vec![
        Edit::PutStage {
            stage: name("prod"),
            entry: Entry::Triggered,
            after: BTreeSet::new(),
            batch: None,
        },
        Edit::PutSequence { stage: name("prod"), sequence: name("remedy"), definition },
    ]))
}

/// The event as it is known, or one of the same name that no entry takes.
fn happens(number: u128, version: &str, fires: bool) -> Command {
    let elsewhere = (!fires).then(|| r#"{"result": "fail"}"#.into());
    Command::Happen {
        deployment: deployment(number),
        name: "problem.open".into(),
        stage: None,
        service: name("web"),
        version: version.into(),
        known: None,
        data: elsewhere,
    }
}

async fn register(harbor: &Harbor, executor: &str) {
    let everywhere = Subscription {
        task: name("restart"),
        stages: Vec::new(),
        services: Vec::new(),
        expressions: Vec::new(),
    };
    let (subscriptions, ttl) = (vec![everywhere], Span::from_secs(60));
    let executor = ExecutorName(executor.into());
    let register = Command::Register { executor, subscriptions, ttl };
    harbor.shop().send(register, by()).await.expect("it can register");
}

#[tokio::test]
async fn a_version_keeps_its_number_however_it_is_deployed() {
    let harbor = Harbor::open().await;
    harbor.shop().send(listening(), by()).await.expect("the structure is sound");
    let mut given = Vec::new();
    for (number, version) in [(1, "1.0"), (2, "1.1")] {
        let reply = harbor.shop().send(happens(number, version, true), by()).await;
        let Ok(Reply::Started { revision, .. }) = reply else { panic!("{reply:?}") };
        given.push(revision);
    }
    // What the kernel remembers of versions may be gone after a restart; the store has them all.
    let harbor = harbor.restart().await;
    let reply = harbor.shop().send(happens(3, "1.0", true), by()).await;
    let Ok(Reply::Started { revision, .. }) = reply else { panic!("{reply:?}") };
    assert_eq!(revision, given[0]);
    assert_ne!(given[0], given[1]);
    harbor.close().await;
}

#[tokio::test]
async fn all_that_happens_at_once_to_a_deployment_that_has_ended_is_taken() {
    let mut harbor = Harbor::open().await;
    harbor.shop().send(listening(), by()).await.expect("the structure is sound");
    register(&harbor, "agent").await;
    harbor.shop().send(happens(1, "1.0", true), by()).await.expect("it starts the remedy");
    let step = harbor.offer().await;
    harbor.work(step, Outcome::Pass).await;
    let shop = harbor.shop();
    let events = (0..20).map(|_| shop.send(happens(1, "1.0", false), by()));
    for reply in join_all(events).await {
        assert!(matches!(reply, Ok(Reply::Started { .. })), "{reply:?}");
    }
    drop(shop);
    let digest = harbor.digest(&name("shop")).await;
    let harbor = harbor.restart().await;
    assert_eq!(harbor.digest(&name("shop")).await, digest);
    harbor.close().await;
}

#[tokio::test]
async fn only_a_registered_executor_can_say_that_it_is_there() {
    let harbor = Harbor::open().await;
    let winch = ExecutorName("winch".into());
    let refused = harbor.shop().heartbeat(winch.clone()).await;
    let unknown = Refusal::UnknownExecutor(winch.clone());
    assert_eq!(refused, Err(RequestError::Refused(unknown)));
    register(&harbor, "winch").await;
    let before = harbor.shop().durable();
    harbor.shop().heartbeat(winch).await.expect("it is known now");
    assert_eq!(harbor.shop().durable(), before, "a heartbeat is not a record");
    harbor.close().await;
}
