use seaway_api::{CloudEvent, Task};
use serde_json::{Map, Value, json};

use crate::command::Verdict;

/// The data of `.finished`: what the command adds for later tasks, with how it went.
pub(super) fn finished(task: &Task, verdict: &Verdict) -> Map<String, Value> {
    let mut data = verdict.data.clone();
    if !verdict.log.is_empty() {
        let space = data.entry(task.task.clone()).or_insert_with(|| json!({}));
        if let Value::Object(space) = space {
            space.insert("log".to_owned(), verdict.log.clone().into());
        }
    }
    // What the command says about these in its data would contradict its verdict.
    data.remove("message");
    data.insert("result".to_owned(), verdict.result.as_str().into());
    data.insert("status".to_owned(), verdict.standing.as_str().into());
    if let Some(message) = &verdict.message {
        data.insert("message".to_owned(), message.clone().into());
    }
    data
}

/// What is said instead when the server does not take an answer, so that the task does not hang.
/// It has an id of its own: the other one was answered already.
pub(super) fn instead(task: &Task, source: &str, why: &str) -> CloudEvent {
    let verdict = Verdict::errored(format!("the answer of the command was refused: {why}"));
    let mut data = finished(task, &verdict);
    let project = task.event.data.get("project").cloned();
    let named = || task.target.split('/').next().unwrap_or_default().into();
    data.insert("project".to_owned(), project.unwrap_or_else(named));
    CloudEvent {
        specversion: "1.0".to_owned(),
        id: format!("{}.finished.instead", task.id),
        source: source.to_owned(),
        ty: format!("sh.keptn.event.{}.finished", task.task),
        subject: None,
        time: None,
        datacontenttype: Some("application/json".to_owned()),
        shkeptncontext: Some(task.deployment),
        triggeredid: Some(task.id.clone()),
        data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;

    fn of(data: Value, log: &str) -> Value {
        let Value::Object(data) = data else { unreachable!("it is an object") };
        let verdict = Verdict { data, log: log.to_owned(), ..Verdict::errored("why") };
        Value::Object(finished(&task("test", json!({})), &verdict))
    }

    #[test]
    fn the_answer_has_the_verdict_the_data_and_the_log() {
        let verdict = json!({"result": "fail", "status": "errored", "message": "why"});
        assert_eq!(of(json!({}), ""), verdict);
        let data = json!({"result": "pass", "test": {"p99": 7}, "url": "http://a"});
        let told = of(data, "said");
        assert_eq!(told["result"], "fail");
        assert_eq!(told["test"], json!({"p99": 7, "log": "said"}));
        assert_eq!(told["url"], "http://a");
        assert_eq!(of(json!({"test": 1}), "said")["test"], 1);
    }

    #[test]
    fn a_refused_answer_is_replaced_by_a_short_one() {
        let event = instead(&task("test", json!({"project": "shop"})), "here", "too long");
        assert_eq!(
            (event.data["project"].as_str(), event.data["result"].as_str()),
            (Some("shop"), Some("fail"))
        );
        assert_ne!(event.id, "t-1.finished");
    }
}
