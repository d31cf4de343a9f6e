use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::harbor::{Harbor, Reply};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Those who deliver: who triggers, who does the tasks, and who looks.
impl Harbor {
    /// The id of a new deployment of a service.
    pub(crate) async fn trigger(&self, sequence: &str, service: &str, version: &str) -> String {
        let (stage, sequence) = sequence.split_once('.').unwrap();
        let body = json!({
            "stage": stage, "sequence": sequence, "service": service, "version": version
        });
        let reply = self.post("/v1/projects/shop/trigger", body).await.ok();
        reply["deployment"].as_str().unwrap().to_owned()
    }

    /// An executor for some tasks.
    pub(crate) async fn register(&self, executor: &str, tasks: &[&str]) {
        let subscriptions: Vec<Value> = tasks.iter().map(|task| json!({"task": task})).collect();
        let request = self.request(Method::PUT, &format!("/v1/projects/shop/executors/{executor}"));
        let request = request.json(&json!({"subscriptions": subscriptions}));
        self.send(request, &self.admin).await.ok();
    }

    /// The next task of an executor, waited for.
    pub(crate) async fn claim(&self, executor: &str) -> Value {
        let path = format!("/v1/projects/shop/executors/{executor}/claim");
        let reply = self.post(&path, json!({"waitSeconds": 30})).await.ok();
        reply["tasks"][0].clone()
    }

    /// Says that a task ended.
    pub(crate) async fn finish(&self, task: &Value, result: &str, message: &str) -> Reply {
        let name = task["task"].as_str().unwrap();
        let event = json!({
            "specversion": "1.0",
            "id": format!("{}-finished", task["id"].as_str().unwrap()),
            "source": "crew",
            "type": format!("sh.keptn.event.{name}.finished"),
            "triggeredid": task["id"],
            "data": {
                "project": "shop", "result": result, "status": "succeeded", "message": message
            },
        });
        self.post("/v1/events", event).await
    }

    /// Does the next task of an executor.
    pub(crate) async fn work(&self, executor: &str, result: &str) -> Value {
        let task = self.claim(executor).await;
        assert!(task.is_object(), "nothing to do for {executor}");
        self.finish(&task, result, &format!("it is a {result}")).await.ok();
        task
    }

    /// Asks again and again until an answer is as it should be.
    pub(crate) async fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let asking = async {
            loop {
                let body = self.get(path).await.ok();
                if wanted(&body) {
                    return body;
                }
            }
        };
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(body) => body,
            Err(_) => panic!("{path} is still {}", self.get(path).await.body),
        }
    }

    /// Waits until a deployment is in a state.
    pub(crate) async fn until_state(&self, deployment: &str, state: &str) -> Value {
        let path = format!("/v1/projects/shop/deployments/{deployment}");
        self.until(&path, |view| view["state"] == state).await
    }

    /// Tells a deployment what to do, once under a key.
    pub(crate) async fn steer(
        &self,
        deployment: &str,
        what: &str,
        key: Option<&str>,
        body: Value,
    ) -> Reply {
        let path = format!("/v1/projects/shop/deployments/{deployment}/{what}");
        let mut request = self.request(Method::POST, &path).json(&body);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        self.send(request, &self.admin).await
    }
}
