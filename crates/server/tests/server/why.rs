use serde_json::{Value, json};

use crate::harbor::Harbor;

const SHIPYARD: &str = "
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: staging
    sequences:
    - name: delivery
      tasks: [{name: deploy}]
    - name: check
      tasks: [{name: scan}]
  - name: beta
    sequences:
    - name: delivery
      triggeredOn:
      - all: [staging.delivery.finished, staging.check.finished]
      tasks: [{name: deploy}]
";

async fn harbor() -> Harbor {
    let harbor = Harbor::open().await;
    harbor.apply("shop", &[("shipyard.yaml", SHIPYARD)]).await.ok();
    harbor
}

fn of(id: &str) -> String {
    format!("/v1/projects/shop/deployments/{id}/why")
}

fn reasons(why: &Value) -> Vec<&str> {
    let lines = why["lines"].as_array().unwrap().iter();
    lines.map(|line| line["reason"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_wait_says_what_would_end_it() {
    let harbor = harbor().await;
    let id = harbor.trigger("staging.delivery", "cart", "1").await;
    let why = harbor.until(&of(&id), |why| reasons(why) == ["no-executor"]).await;
    let line = &why["lines"][0];
    assert_eq!(line["target"], "shop/staging/delivery#1/deploy");
    assert_eq!((&line["service"], &line["version"]), (&json!("cart"), &json!("1")));
    assert_eq!(line["text"], "no executor for task \"deploy\"");
    assert!(line["endedBy"].as_str().unwrap().contains("subscribes to deploy"), "{line}");
    assert!(line["until"].is_string() && line["since"].is_null(), "{line}");

    harbor.register("helm", &["deploy"]).await;
    let why = harbor.until(&of(&id), |why| reasons(why) == ["offered"]).await;
    assert_eq!(why["lines"][0]["text"], "offered to helm");
    let task = harbor.claim("helm").await;
    let why = harbor.until(&of(&id), |why| reasons(why) == ["working"]).await;
    assert!(why["lines"][0]["since"].is_string(), "{why}");
    harbor.finish(&task, "fail", "").await.ok();

    let why = harbor.until(&of(&id), |why| reasons(why) == ["failed"]).await;
    let line = &why["lines"][0];
    assert_eq!(line["endedBy"], "a retry, or a skip with a reason");
    harbor.until_state(&id, "failed").await;
    let why = harbor.get(&of(&id)).await.ok();
    assert_eq!((reasons(&why), &why["lines"][0]["target"]), (vec!["failed"], &json!("shop")));
    assert!(why["lines"][0]["since"].is_string());
    harbor.steer(&id, "skip", None, json!({"reason": "by hand"})).await.ok();
    harbor.until_state(&id, "finished").await;
    assert_eq!(reasons(&harbor.get(&of(&id)).await.ok()), ["finished"]);
    let unknown = harbor.get(&of("0192f0c0-0000-7000-8000-000000000001")).await;
    assert_eq!(unknown.problem(), (404, "unknown-deployment"));
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_that_is_half_full_waits_for_the_rest() {
    let harbor = harbor().await;
    harbor.register("helm", &["deploy"]).await;
    let id = harbor.trigger("staging.delivery", "cart", "1").await;
    let check = json!({
        "stage": "staging", "sequence": "check", "service": "cart", "version": "1",
        "deployment": id,
    });
    harbor.post("/v1/projects/shop/trigger", check).await.ok();
    harbor.work("helm", "pass").await;
    let both = |why: &Value| reasons(why).contains(&"join");
    let why = harbor.until(&of(&id), both).await;
    assert_eq!(reasons(&why), ["no-executor", "join"]);
    let join = &why["lines"][1];
    assert_eq!(join["target"], "shop/beta/delivery");
    assert_eq!(join["text"], "waiting for staging.check.finished");
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_is_explained_piece_by_piece_oldest_first() {
    let harbor = harbor().await;
    let mut ids = Vec::new();
    for service in ["e", "a", "c", "b", "d"] {
        ids.push(harbor.trigger("staging.delivery", service, "1").await);
    }
    let all = "/v1/projects/shop/why";
    harbor.until(all, |why| reasons(why) == ["no-executor"; 5]).await;
    for limit in 1..=5 {
        let (mut found, mut next) = (Vec::new(), String::new());
        loop {
            let why = harbor.get(&format!("{all}?limit={limit}{next}")).await.ok();
            let lines = why["lines"].as_array().unwrap();
            assert!(lines.len() <= limit);
            found.extend(lines.iter().map(|it| it["deployment"].as_str().unwrap().to_owned()));
            match why["next"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => break,
            }
        }
        assert_eq!(found, ids, "in pieces of {limit}");
    }
    let bad = harbor.get(&format!("{all}?cursor=aGVsbG8")).await;
    assert_eq!(bad.problem(), (400, "bad-cursor"));
    harbor.close().await;
}
