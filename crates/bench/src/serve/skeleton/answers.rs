use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::request::Offer;
use crate::serve::work::{PROJECT, SEQUENCE, STAGE, TASKS};

/// An event as far as it must be read to know what it is about.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type")]
    pub(super) ty: &'a str,
    #[serde(borrow)]
    pub(super) triggeredid: Option<&'a str>,
    pub(super) id: &'a str,
    pub(super) source: &'a str,
    #[serde(borrow)]
    pub(super) data: &'a RawValue,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scope<'a> {
    pub(super) project: &'a str,
    #[serde(borrow)]
    pub(super) service: Option<&'a str>,
    #[serde(borrow)]
    pub(super) version: Option<&'a str>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Claim {
    pub(super) max: usize,
    pub(super) lease_seconds: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct Accepted {
    pub(super) context: Uuid,
    pub(super) at: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Claimed<'a> {
    pub(super) tasks: Vec<Task<'a>>,
}

/// A task as the server hands it out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task<'a> {
    id: String,
    task: &'a str,
    deployment: Uuid,
    target: String,
    key: String,
    attempt: u32,
    lease: u32,
    lease_seconds: u32,
    event: Triggered<'a>,
}

#[derive(Debug, Serialize)]
struct Triggered<'a> {
    specversion: &'a str,
    id: String,
    source: &'a str,
    #[serde(rename = "type")]
    ty: String,
    datacontenttype: &'a str,
    shkeptncontext: Uuid,
    data: Payload<'a>,
}

/// What the server adds, and behind it what came with the last answer.
#[derive(Debug, Serialize)]
struct Payload<'a> {
    project: &'a str,
    stage: &'a str,
    service: &'a str,
    before: &'a RawValue,
}

impl<'a> Task<'a> {
    pub(super) fn of(offer: &'a Offer, lease_seconds: u32) -> Option<Self> {
        let (task, deployment) = (TASKS[offer.task], offer.deployment.0);
        let id = format!("{deployment}.{}.1.1", offer.task);
        let before = serde_json::from_str(&offer.data).ok()?;
        let service = offer.service.as_str();
        let event = Triggered {
            specversion: "1.0",
            id: id.clone(),
            source: "seaway",
            ty: format!("sh.keptn.event.{task}.triggered"),
            datacontenttype: "application/json",
            shkeptncontext: deployment,
            data: Payload { project: PROJECT, stage: STAGE, service, before },
        };
        Some(Self {
            key: format!("{deployment}.{}", offer.task),
            target: format!("{PROJECT}/{STAGE}/{SEQUENCE}#1/{task}"),
            id,
            task,
            deployment,
            attempt: 1,
            lease: 1,
            lease_seconds,
            event,
        })
    }
}

/// The deployment and the number of the task that the id of a task names.
pub(super) fn held(id: &str) -> Option<(Uuid, usize)> {
    let (deployment, rest) = id.split_once('.')?;
    let task = rest.split('.').next()?.parse().ok()?;
    Some((deployment.parse().ok()?, task)).filter(|(_, task)| *task < TASKS.len())
}
