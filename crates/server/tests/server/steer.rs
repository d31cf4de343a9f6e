use serde_json::{Value, json};

use crate::harbor::Harbor;

const SHIPYARD: &str = "
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: test}, {name: approval}, {name: release}]
    - name: check
      tasks: [{name: test}]
";

async fn harbor() -> Harbor {
    let harbor = Harbor::open().await;
    harbor.apply("shop", &[("shipyard.yaml", SHIPYARD)]).await.ok();
    harbor.register("tester", &["test"]).await;
    harbor
}

async fn waiting_for(harbor: &Harbor, id: &str, reason: &str) {
    let path = format!("/v1/projects/shop/deployments/{id}/why");
    harbor.until(&path, |why| why["lines"][0]["reason"] == reason).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_step_that_is_meant_is_found_and_each_command_counts_once() {
    let harbor = harbor().await;
    let id = harbor.trigger("dev.delivery", "cart", "1").await;
    let none = harbor.steer(&id, "retry", None, json!({})).await;
    assert_eq!(none.problem(), (409, "not-failed"));
    assert!(none.detail().contains("shop/dev/delivery#1/test"), "{}", none.detail());
    harbor.work("tester", "fail").await;

    // It has ended and left memory; a retry brings it back.
    harbor.until_state(&id, "failed").await;
    assert_eq!(harbor.steer(&id, "approve", None, json!({})).await.problem(), (409, "no-approval"));
    let data = json!({"data": {"again": true}});
    let first = harbor.steer(&id, "retry", Some("k1"), data.clone()).await.ok();
    let second = harbor.steer(&id, "retry", Some("k1"), data).await.ok();
    assert_eq!(first, second);
    let task = harbor.claim("tester").await;
    assert_eq!((&task["attempt"], &task["event"]["data"]["again"]), (&json!(2), &json!(true)));
    assert_eq!(harbor.steer(&id, "retry", Some("k2"), json!({})).await.problem().0, 409);
    harbor.finish(&task, "pass", "").await.ok();

    waiting_for(&harbor, &id, "approval").await;
    let comment = json!({"comment": "looks good"});
    let first = harbor.steer(&id, "approve", Some("k3"), comment.clone()).await.ok();
    let second = harbor.steer(&id, "approve", Some("k3"), comment).await.ok();
    assert_eq!(first, second);
    assert_eq!(harbor.steer(&id, "reject", None, json!({})).await.problem(), (409, "no-approval"));

    waiting_for(&harbor, &id, "no-executor").await;
    let missing = harbor.steer(&id, "skip", None, json!({})).await;
    assert_eq!(missing.problem(), (422, "invalid-body"));
    assert!(missing.detail().contains("reason"), "{}", missing.detail());
    let empty = harbor.steer(&id, "skip", None, json!({"reason": " "})).await;
    assert_eq!(empty.problem(), (422, "bad-reason"));
    harbor.steer(&id, "skip", None, json!({"reason": "nobody there"})).await.ok();

    let view = harbor.until_state(&id, "finished").await;
    let tasks = view["runs"][0]["tasks"].as_array().unwrap();
    let states: Vec<&str> = tasks.iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["passed", "passed", "skipped"]);
    assert_eq!(tasks[0]["attempt"], 2);
    assert_eq!(tasks[1]["message"], "approved by admin: looks good");
    assert_eq!(tasks[2]["message"], "person: nobody there");
    assert_eq!(harbor.steer(&id, "retry", None, json!({})).await.problem(), (409, "not-failed"));
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_approval_fails() {
    let harbor = harbor().await;
    let id = harbor.trigger("dev.delivery", "cart", "1").await;
    harbor.work("tester", "pass").await;
    waiting_for(&harbor, &id, "approval").await;
    let target = json!({"target": "shop/dev/delivery#1/approval", "comment": "not on a friday"});
    harbor.steer(&id, "reject", None, target).await.ok();
    let view = harbor.until_state(&id, "failed").await;
    let approval = &view["runs"][0]["tasks"][1];
    assert_eq!(approval["message"], "rejected by admin: not on a friday");
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_steps_one_has_to_be_named() {
    let harbor = harbor().await;
    let id = harbor.trigger("dev.delivery", "cart", "1").await;
    let again = json!({
        "stage": "dev", "sequence": "check", "service": "cart", "version": "1", "deployment": id
    });
    harbor.post("/v1/projects/shop/trigger", again).await.ok();
    harbor.work("tester", "fail").await;
    harbor.work("tester", "fail").await;
    harbor.until_state(&id, "failed").await;

    let unclear = harbor.steer(&id, "retry", None, json!({})).await;
    assert_eq!(unclear.problem(), (422, "which-step"));
    let named = unclear.body["invalid"].as_array().unwrap();
    let mut named: Vec<&str> = named.iter().map(|it| it["at"].as_str().unwrap()).collect();
    named.sort_unstable();
    assert_eq!(named, ["shop/dev/check#1/test", "shop/dev/delivery#1/test"]);

    let unknown = harbor.steer(&id, "retry", None, json!({"target": "dev/nowhere#1/test"})).await;
    assert_eq!(unknown.problem(), (404, "unknown-step"));
    let marker = harbor.steer(&id, "retry", None, json!({"target": "shop/dev/check#1"})).await;
    assert_eq!(marker.problem(), (404, "unknown-step"));
    assert!(marker.detail().contains("shop/dev/check#1"), "{}", marker.detail());
    // The project may be left out.
    harbor.steer(&id, "retry", None, json!({"target": "dev/check#1/test"})).await.ok();
    harbor.work("tester", "pass").await;
    let path = format!("/v1/projects/shop/deployments/{id}");
    let passed = |view: &Value| {
        let runs = view["runs"].as_array().unwrap().iter();
        runs.filter(|run| run["state"] == "passed").count() == 1
    };
    harbor.until(&path, passed).await;
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deployment_is_paused_resumed_and_aborted() {
    let harbor = harbor().await;
    let id = harbor.trigger("dev.delivery", "cart", "1").await;
    let first = harbor.steer(&id, "pause", Some("p"), Value::Null).await.ok();
    assert_eq!(harbor.steer(&id, "pause", Some("p"), Value::Null).await.ok(), first);
    let again = harbor.steer(&id, "pause", None, Value::Null).await;
    assert_eq!(again.problem(), (409, "already-paused"));
    harbor.until_state(&id, "paused").await;
    let paused = harbor.get("/v1/projects/shop/deployments?state=paused").await.ok();
    assert_eq!(paused["items"][0]["id"], id);
    harbor.steer(&id, "resume", None, Value::Null).await.ok();
    let again = harbor.steer(&id, "resume", None, Value::Null).await;
    assert_eq!(again.problem(), (409, "not-paused"));
    harbor.steer(&id, "abort", None, Value::Null).await.ok();
    harbor.until_state(&id, "aborted").await;
    assert_eq!(harbor.steer(&id, "abort", None, Value::Null).await.problem().0, 409);
    let nobody = "0192f0c0-0000-7000-8000-000000000001";
    for what in ["pause", "resume", "abort", "retry", "approve", "reject"] {
        let unknown = harbor.steer(nobody, what, None, json!({})).await;
        assert_eq!(unknown.problem(), (404, "unknown-deployment"), "{what}");
    }
    let bad = harbor.steer("cart", "pause", None, Value::Null).await;
    assert_eq!(bad.problem(), (404, "unknown-deployment"));
    harbor.close().await;
}
