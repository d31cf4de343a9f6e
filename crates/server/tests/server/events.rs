use reqwest::Method;
use serde_json::{Value, json};

use crate::harbor::{Harbor, Reply};

async fn send(harbor: &Harbor, kind: &str, body: Value) -> Reply {
    let request = harbor.request(Method::POST, "/v1/events").header("content-type", kind);
    harbor.send(request.body(body.to_string()), &harbor.admin).await
}

fn event(id: &str, service: &str) -> Value {
    json!({"specversion": "1.0", "id": id, "source": "ci", "type": "staging.delivery.triggered",
        "data": {"project": "shop", "service": service, "version": "1"}})
}

/// What is wrong with one event of a batch is told for that one, and the others are taken in.
#[tokio::test]
async fn each_event_of_a_batch_is_answered_by_itself() {
    let harbor = Harbor::with_shop().await;
    let batch = json!([event("1", "cart"), {"id": 1}, "text", [], event("2", "web")]);
    let reply = send(&harbor, "application/cloudevents-batch+json", batch).await;
    assert_eq!(reply.status, 207);
    let answers = reply.body.as_array().unwrap();
    let statuses: Vec<_> = answers.iter().map(|it| it["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 422, 400, 400, 200]);
    assert_eq!(answers[2]["problem"]["code"], "not-a-cloudevent");
    let list = harbor.get("/v1/projects/shop/deployments").await.ok();
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
}

/// A list is not an object whose names were left out.
#[tokio::test]
async fn fields_are_never_taken_from_a_list_by_their_order() {
    let harbor = Harbor::with_shop().await;
    let data = json!({"project": "shop", "service": "cart", "version": "1"});
    let list = json!(["1.0", "1", "ci", "staging.delivery.triggered", null, null, data]);
    let reply = send(&harbor, "application/cloudevents+json", list).await;
    assert_eq!(reply.problem(), (400, "not-a-cloudevent"));
    let trigger = json!(["staging", "delivery", "cart", "1"]);
    let reply = harbor.post("/v1/projects/shop/trigger", trigger).await;
    assert_eq!(reply.problem(), (422, "invalid-body"));
    let list = harbor.get("/v1/projects/shop/deployments").await.ok();
    assert_eq!(list["items"], json!([]));
}
