use std::collections::BTreeSet;

use seaway_kernel::{
    Actor, Command, Edit, Effect, Entry, Report, Sequence, Step, StructureChange, Subscription,
    Task,
};
use seaway_model::{DeploymentId, ExecutorName, Fence, Name, Outcome, Span};
use uuid::Uuid;

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("tests use valid names")
}

pub(crate) fn deployment(number: u128) -> DeploymentId {
    DeploymentId(Uuid::from_u128(number))
}

pub(crate) fn by() -> Actor {
    Actor::named("ann")
}

/// A stage with one sequence of the tasks `deploy` and `check`.
pub(crate) fn structure() -> Command {
    let task = |text| Task::new(name(text));
    let definition =
        Sequence { tasks: vec![task("deploy"), task("check")], range: None, ..Sequence::default() };
    Command::ChangeStructure(StructureChange(vec![
        Edit::PutStage {
            stage: name("beta"),
            entry: Entry::Ordered,
            after: BTreeSet::new(),
            batch: None,
        },
        Edit::PutSequence { stage: name("beta"), sequence: name("delivery"), definition },
    ]))
}

/// Each deployment has a service of its own, so that none waits for another.
pub(crate) fn start(number: u128) -> Command {
    Command::Start {
        deployment: deployment(number),
        service: name(&format!("service-{number}")),
        version: "1".into(),
        known: None,
    }
}

/// A stage that is entered by triggers, with one sequence of the task `test`.
pub(crate) fn yard() -> Command {
    let definition = Sequence { tasks: vec![Task::new(name("test"))], ..Sequence::default() };
    let (stage, after, batch) = (name("dev"), BTreeSet::new(), None);
    Command::ChangeStructure(StructureChange(vec![
        Edit::PutStage { stage, entry: Entry::Triggered, after, batch },
        Edit::PutSequence { stage: name("dev"), sequence: name("delivery"), definition },
    ]))
}

/// Each deployment has a service of its own, so that none waits for another.
pub(crate) fn trigger(number: u128) -> Command {
    Command::Trigger {
        deployment: deployment(number),
        stage: name("dev"),
        sequence: name("delivery"),
        service: name(&format!("service-{number}")),
        version: "1".into(),
        known: None,
        data: None,
    }
}

pub(crate) fn executor(name: &str) -> ExecutorName {
    ExecutorName(name.into())
}

/// An executor that does the task `test` and counts as there for so many seconds.
pub(crate) fn register(who: &str, seconds: i64) -> Command {
    let test = Subscription {
        task: name("test"),
        stages: Vec::new(),
        services: Vec::new(),
        expressions: Vec::new(),
    };
    let (subscriptions, ttl) = (vec![test], Span::from_secs(seconds));
    Command::Register { executor: executor(who), subscriptions, ttl }
}

pub(crate) fn claim(step: Step) -> Command {
    let executor = ExecutorName("agent".into());
    Command::Claim { step, executor, ttl: Span::from_secs(60) }
}

pub(crate) fn ended(step: Step, fence: Fence, outcome: Outcome) -> Command {
    Command::Report { step, fence, report: Report::Ended(outcome), answer: None }
}

pub(crate) fn offered(effect: &Effect) -> Option<Step> {
    match effect {
        Effect::Offer { step, .. } => Some(*step),
        _ => None,
    }
}
