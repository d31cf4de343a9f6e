use seaway_api::{Accepted, CloudEvent, Task};
use serde_json::{Map, Value};

use crate::call::fresh;
use crate::client::Client;
use crate::error::ClientError;

const STRUCTURED: &str = "application/cloudevents+json";

/// What an executor says about a task that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Started,
    Changed,
    Finished,
}

impl Answer {
    fn suffix(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Changed => "status.changed",
            Self::Finished => "finished",
        }
    }
}

impl Client {
    /// Hands in an event. The same (source, id) twice has one effect.
    pub async fn send_event(&self, event: &CloudEvent) -> Result<Accepted, ClientError> {
        let call = self.post_unkeyed(self.path().then("events"));
        call.content_type(STRUCTURED).body(event).json().await
    }

    /// Answers a task. Of one lease there is one `started` and one `finished`: said again they
    /// have no second effect.
    pub async fn answer(
        &self,
        task: &Task,
        answer: Answer,
        data: Map<String, Value>,
    ) -> Result<Accepted, ClientError> {
        self.send_event(&event(&self.inner.options.source, task, answer, data)).await
    }
}

fn event(source: &str, task: &Task, answer: Answer, mut data: Map<String, Value>) -> CloudEvent {
    let id = match answer {
        Answer::Started | Answer::Finished => format!("{}.{}", task.id, answer.suffix()),
        Answer::Changed => fresh().to_string(),
    };
    let project = match task.event.data.get("project") {
        Some(project) => project.clone(),
        None => task.target.split('/').next().unwrap_or_default().into(),
    };
    data.insert("project".to_owned(), project);
    CloudEvent {
        specversion: "1.0".to_owned(),
        id,
        source: source.to_owned(),
        ty: format!("sh.keptn.event.{}.{}", task.task, answer.suffix()),
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

    fn task() -> Task {
        serde_json::from_value(serde_json::json!({
            "id": "t-1", "task": "test", "deployment": uuid::Uuid::from_u128(7),
            "target": "shop/beta/delivery#1/test", "key": "k", "attempt": 1, "lease": 2,
            "leaseSeconds": 60,
            "event": {
                "specversion": "1.0", "id": "t-1", "source": "seaway",
                "type": "sh.keptn.event.test.triggered", "data": {}
            }
        }))
        .expect("it has the shape of a task")
    }

    #[test]
    fn an_answer_names_its_task_and_repeats_itself() {
        let say = |answer| event("here", &task(), answer, Map::new());
        let finished = say(Answer::Finished);
        assert_eq!(finished.ty, "sh.keptn.event.test.finished");
        assert_eq!(finished.triggeredid.as_deref(), Some("t-1"));
        assert_eq!(finished.data["project"], "shop");
        assert_eq!(finished, say(Answer::Finished));
        assert_ne!(finished.id, say(Answer::Started).id);
        assert_ne!(say(Answer::Changed).id, say(Answer::Changed).id);
    }
}
