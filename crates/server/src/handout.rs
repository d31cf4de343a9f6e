use seaway_kernel::Taken;
use seaway_model::Name;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::clock;
use crate::intake::TaskId;

/// What [`seaway_api::Task`] says, with data that is JSON already.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Task<'a> {
    id: &'a str,
    task: &'a str,
    deployment: Uuid,
    target: &'a str,
    key: String,
    attempt: u32,
    lease: u32,
    lease_seconds: u32,
    event: Event<'a>,
}

#[derive(Debug, Serialize)]
struct Event<'a> {
    specversion: &'static str,
    id: &'a str,
    source: String,
    #[serde(rename = "type")]
    ty: String,
    time: &'a str,
    datacontenttype: &'static str,
    shkeptncontext: Uuid,
    data: &'a RawValue,
}

/// The tasks that an executor has just taken, as the body of the answer to its claim.
pub(crate) fn handout(project: &Name, tasks: &[Taken], lease_seconds: u32) -> Vec<u8> {
    let time = clock::show(clock::now());
    let mut body =
        Vec::with_capacity(64 + tasks.iter().map(|it| 600 + it.data.len()).sum::<usize>());
    body.extend_from_slice(b"{\"tasks\":[");
    for (position, taken) in tasks.iter().enumerate() {
        if position > 0 {
            body.push(b',');
        }
        let id = TaskId { task: taken.task.clone(), step: taken.step, fence: taken.fence };
        let id = id.to_string();
        let deployment = taken.step.deployment.0;
        let data: &RawValue =
            serde_json::from_str(&taken.data).expect("the kernel makes data that is JSON");
        let task = Task {
            id: &id,
            task: taken.task.as_str(),
            deployment,
            target: &taken.path,
            key: format!("{deployment}:{}:{}", taken.step.target, taken.fence.attempt),
            attempt: taken.fence.attempt.0,
            lease: taken.fence.lease,
            lease_seconds,
            event: Event {
                specversion: "1.0",
                id: &id,
                source: format!("seaway/{project}"),
                ty: format!("sh.keptn.event.{}.triggered", taken.task),
                time: &time,
                datacontenttype: "application/json",
                shkeptncontext: deployment,
                data,
            },
        };
        serde_json::to_writer(&mut body, &task).expect("writing to memory does not fail");
    }
    body.extend_from_slice(b"]}");
    body
}
