use reqwest::Method;
use serde_json::json;

use crate::harbor::{Harbor, SHIPYARD};

const PROJECT: &str = "apiVersion: seaway.dev/v1
kind: Project
metadata: {name: shop}
spec:
  services: [cart]
";

fn trigger(service: &str) -> serde_json::Value {
    json!({"stage": "beta", "sequence": "delivery", "service": service, "version": "1"})
}

#[tokio::test]
async fn documents_are_told_as_they_were_applied() {
    let harbor = Harbor::open().await;
    let applied = harbor.apply("shop", &[("a.yaml", PROJECT), ("b.yaml", SHIPYARD)]).await.ok();
    let listed = harbor.get("/v1/projects/shop/documents").await.ok();
    let kinds: Vec<_> = listed["items"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["Project", "Shipyard"]);
    assert_eq!(listed["items"][0]["digest"], applied["changes"][0]["digest"]);
    let first = harbor.get("/v1/projects/shop/documents?limit=1").await.ok();
    let next = first["next"].as_str().unwrap();
    let path = format!("/v1/projects/shop/documents?limit=1&cursor={next}");
    let second = harbor.get(&path).await.ok();
    assert_eq!((&second["items"][0]["kind"], second.get("next")), (&json!("Shipyard"), None));
    let only = harbor.get("/v1/projects/shop/documents?kind=projects").await.ok();
    assert_eq!(only["items"].as_array().unwrap().len(), 1);
    for kind in ["Shipyard", "shipyard", "shipyards", "SHIPYARDS"] {
        let document = harbor.get(&format!("/v1/projects/shop/documents/{kind}/shop")).await.ok();
        assert_eq!((&document["kind"], &document["text"]), (&json!("Shipyard"), &json!(SHIPYARD)));
        assert_eq!(document["digest"], listed["items"][1]["digest"]);
    }
    let unknown = harbor.get("/v1/projects/shop/documents/shipyard/none").await;
    assert_eq!(unknown.problem(), (404, "unknown-document"));
    let unknown = harbor.get("/v1/projects/shop/documents/ship/shop").await;
    assert_eq!(unknown.problem(), (404, "unknown-kind"));
    let unknown = harbor.get("/v1/projects/shop/documents?kind=ship").await;
    assert_eq!(unknown.problem(), (400, "bad-query"));
}

#[tokio::test]
async fn a_project_opens_to_all_services_when_its_document_goes() {
    let harbor = Harbor::open().await;
    harbor.apply("shop", &[("a.yaml", PROJECT), ("b.yaml", SHIPYARD)]).await.ok();
    let refused = harbor.post("/v1/projects/shop/trigger", trigger("web")).await;
    assert_eq!(refused.problem(), (422, "unknown-service"));
    let stays = harbor.delete("/v1/projects/shop/documents/shipyard/shop").await;
    assert_eq!(stays.problem(), (422, "shipyard-stays"));
    let path = "/v1/projects/shop/documents/project/shop";
    let once = || harbor.request(Method::DELETE, path).header("idempotency-key", "gone");
    let deleted = harbor.send(once(), &harbor.admin).await.ok();
    assert_eq!(
        deleted["changes"],
        json!([{"kind": "Project", "name": "shop",
        "change": "deleted"}])
    );
    assert!(deleted["at"].is_u64());
    assert_eq!(harbor.send(once(), &harbor.admin).await.ok(), deleted);
    assert_eq!(harbor.delete(path).await.problem(), (404, "unknown-document"));
    harbor.post("/v1/projects/shop/trigger", trigger("web")).await.ok();
    harbor.get("/v1/projects/shop/documents/shipyard/shop").await.ok();
}

#[tokio::test]
async fn a_project_may_hold_its_shipyard_inside() {
    let harbor = Harbor::open().await;
    let stages = SHIPYARD.split_once("spec:\n").unwrap().1.replace('\n', "\n  ");
    let text = format!("{PROJECT}  shipyard:\n  {}\n", stages.trim_end());
    let applied = harbor.apply("shop", &[("project.yaml", &text)]).await.ok();
    let kinds: Vec<_> =
        applied["changes"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["Project", "Shipyard"]);
    let project = harbor.get("/v1/projects/shop").await.ok();
    assert_eq!(project["stages"][0]["sequences"], json!(["delivery", "cleanup"]));
    harbor.post("/v1/projects/shop/trigger", trigger("cart")).await.ok();
    let again = harbor.apply("shop", &[("project.yaml", &text)]).await.ok();
    assert_eq!(again.get("at"), None);
    assert!(again["changes"].as_array().unwrap().iter().all(|it| it["change"] == "unchanged"));

    let both = harbor.apply("shop", &[("p.yaml", &text), ("s.yaml", SHIPYARD)]).await;
    assert_eq!(both.problem(), (422, "invalid-documents"));
    let wrong = text.replace("- name: beta", "- nam: beta");
    let wrong = harbor.apply("shop", &[("p.yaml", &wrong)]).await;
    assert_eq!(wrong.problem(), (422, "invalid-documents"));
    let places: Vec<_> =
        wrong.body["invalid"].as_array().unwrap().iter().map(|it| &it["at"]).collect();
    assert!(places.contains(&&json!("p.yaml:14:7")), "{}", wrong.body);
}

#[tokio::test]
async fn a_plan_changes_nothing() {
    let harbor = Harbor::open().await;
    let plan = |path: &'static str| async {
        let body = json!({"sources": [{"path": "s.yaml", "text": SHIPYARD}]});
        harbor.post(path, body).await
    };
    let planned = plan("/v1/projects/shop/apply?dryRun=true").await.ok();
    assert_eq!(planned["changes"][0]["change"], "created");
    assert_eq!(harbor.get("/v1/projects/shop").await.problem(), (404, "unknown-project"));
    for (path, code) in [
        ("/v1/projects/shop/apply?dryRun=perhaps", (400, "bad-query")),
        ("/v1/projects/shop/apply?dryrun=true", (400, "bad-query")),
        ("/v1/projects/no%20name/apply", (422, "bad-name")),
    ] {
        assert_eq!(plan(path).await.problem(), code, "{path}");
    }
}
