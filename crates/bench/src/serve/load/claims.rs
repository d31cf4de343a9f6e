use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use uuid::Uuid;

use super::shift::{Held, Shift};
use crate::serve::work::{EXECUTOR, PROJECT, TASKS, service_number};
use crate::web::{Connection, Request};

/// What a claim asks for: as many tasks as one may give, and time to answer them.
const CLAIM: &str = r#"{"max":50,"waitSeconds":30,"leaseSeconds":300}"#;

#[derive(Deserialize)]
struct Claimed<'a> {
    #[serde(borrow)]
    tasks: Vec<Task<'a>>,
}

/// The few fields that matter here.
#[derive(Deserialize)]
struct Task<'a> {
    id: &'a str,
    task: &'a str,
    deployment: Uuid,
    #[serde(borrow)]
    event: Event<'a>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    data: Scope<'a>,
}

#[derive(Deserialize)]
struct Scope<'a> {
    service: &'a str,
}

/// Claims tasks, again and again.
pub(super) async fn claim(shift: Rc<Shift>, mut connection: Connection) {
    let path = format!("/v1/projects/{PROJECT}/executors/{EXECUTOR}/claim");
    let request = Request::json(&shift.load.target, "POST", &path);
    loop {
        let claimed = async {
            let answer = connection.send(&request, CLAIM.as_bytes()).await?;
            held(answer.accepted()?, shift.load.concurrency)
        };
        match claimed.await.context("claiming tasks") {
            Ok(held) => shift.take(held),
            Err(error) => return shift.fail(error),
        }
    }
}

fn held(body: &[u8], lanes: usize) -> Result<Vec<Held>> {
    let claimed: Claimed<'_> = serde_json::from_slice(body)
        .with_context(|| format!("reading {}", String::from_utf8_lossy(body)))?;
    ensure!(claimed.tasks.len() <= 50, "a claim gave more tasks than it was asked for");
    let held = claimed.tasks.into_iter().map(|it| {
        let task = TASKS.iter().position(|name| *name == it.task);
        let service = service_number(it.event.data.service);
        Ok(Held {
            id: it.id.into(),
            task: task.with_context(|| format!("{} is no task", it.task))?,
            deployment: it.deployment,
            lane: service.context("the service is not one of ours")? % lanes,
        })
    });
    held.collect()
}
