use std::io::Write;

use uuid::Uuid;

pub(crate) const PROJECT: &str = "bench";
pub(crate) const STAGE: &str = "prod";
pub(crate) const SEQUENCE: &str = "delivery";
pub(crate) const EXECUTOR: &str = "hands";
/// None of these is reserved, so that nobody but the executor can do them.
pub(crate) const TASKS: [&str; 5] = ["fetch", "build", "sign", "ship", "announce"];
pub(crate) const SERVICES: usize = 1_000;
/// The size of every message in bytes: events that trigger a sequence, and answers.
const MESSAGE: usize = 500;

/// The part of a message that makes it as long as it is to be. All messages fill the same field,
/// which the latest one overwrites, so that the messages to executors do not grow on the way.
const FILL: &[u8] = &[b'x'; MESSAGE];

pub(crate) fn shipyard() -> String {
    let tasks = TASKS.map(|task| format!("      - name: {task}\n")).concat();
    format!(
        "apiVersion: seaway.dev/v1\nkind: Shipyard\nmetadata: {{name: {PROJECT}}}\nspec:\n  \
         stages:\n  - name: {STAGE}\n    sequences:\n    - name: {SEQUENCE}\n      tasks:\n{tasks}"
    )
}

pub(crate) fn service(number: usize) -> String {
    format!("service-{number:04}")
}

/// The number in the name of a service.
pub(crate) fn service_number(name: &str) -> Option<usize> {
    name.strip_prefix("service-")?.parse().ok()
}

/// The event that starts the sequence for a version that nobody has seen before.
pub(crate) fn trigger(number: usize, service: usize, out: &mut Vec<u8>) {
    out.clear();
    write!(
        out,
        "{{\"specversion\":\"1.0\",\"id\":\"t{number}\",\"source\":\"bench/ci\",\
         \"type\":\"sh.keptn.event.{STAGE}.{SEQUENCE}.triggered\",\
         \"datacontenttype\":\"application/json\",\
         \"data\":{{\"project\":\"{PROJECT}\",\"stage\":\"{STAGE}\",\
         \"service\":\"service-{service:04}\",\"version\":\"1.{number}\",\"note\":\""
    )
    .expect("writing to memory does not fail");
    fill(out);
}

/// What an executor says about its task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verb {
    Started,
    Finished,
}

pub(crate) fn answer(
    number: usize,
    (task, verb): (usize, Verb),
    (id, context): (&str, Uuid),
    out: &mut Vec<u8>,
) {
    out.clear();
    let task = TASKS[task];
    let (verb, result) = match verb {
        Verb::Started => ("started", ""),
        Verb::Finished => ("finished", "\"result\":\"pass\",\"status\":\"succeeded\","),
    };
    write!(
        out,
        "{{\"specversion\":\"1.0\",\"id\":\"a{number}\",\"source\":\"bench/{EXECUTOR}\",\
         \"type\":\"sh.keptn.event.{task}.{verb}\",\"datacontenttype\":\"application/json\",\
         \"shkeptncontext\":\"{context}\",\"triggeredid\":\"{id}\",\
         \"data\":{{\"project\":\"{PROJECT}\",{result}\"note\":\""
    )
    .expect("writing to memory does not fail");
    fill(out);
}

/// Fills the last field and closes the objects that are open.
fn fill(out: &mut Vec<u8>) {
    const END: &[u8] = b"\"}}";
    let missing = MESSAGE.saturating_sub(out.len() + END.len());
    out.extend_from_slice(&FILL[..missing]);
    out.extend_from_slice(END);
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_message_is_json_of_the_same_size() {
        let mut text = Vec::new();
        let check = |text: &[u8]| {
            let parsed: Value = serde_json::from_slice(text).unwrap();
            assert_eq!(parsed["data"]["project"], PROJECT);
            assert_eq!(text.len(), MESSAGE);
        };
        trigger(99_999, 999, &mut text);
        check(&text);
        for verb in [Verb::Started, Verb::Finished] {
            answer(7, (4, verb), ("some-id", Uuid::nil()), &mut text);
            check(&text);
        }
    }
}
