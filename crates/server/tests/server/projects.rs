use reqwest::Method;
use serde_json::{Value, json};

use crate::harbor::{Harbor, SHIPYARD};

fn names(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn projects_are_listed_piece_by_piece_to_whoever_may_see_them() {
    let harbor = Harbor::open().await;
    for project in ["a", "b", "c"] {
        harbor.apply(project, &[("shipyard.yaml", SHIPYARD)]).await.ok();
    }
    let first = harbor.get("/v1/projects?limit=2").await.ok();
    assert_eq!(names(&first), ["a", "b"]);
    let next = first["next"].as_str().unwrap();
    let second = harbor.get(&format!("/v1/projects?limit=2&cursor={next}")).await.ok();
    assert_eq!((names(&second), second.get("next")), (vec!["c"], None));
    for bad in ["limit=0", "limit=1001", "limit=x", "size=2"] {
        let reply = harbor.get(&format!("/v1/projects?{bad}")).await;
        assert_eq!(reply.problem(), (400, "bad-query"), "{bad}");
    }
    let reply = harbor.get("/v1/projects?cursor=%25").await;
    assert_eq!(reply.problem(), (400, "bad-cursor"));
    for (project, expected) in [("b", &["b"][..]), ("unmade", &[])] {
        let token = harbor.token(&["read"], Some(project)).await;
        let request = harbor.request(Method::GET, "/v1/projects");
        assert_eq!(names(&harbor.send(request, &token).await.ok()), expected);
    }
}

#[tokio::test]
async fn a_project_shows_its_stages_in_order_and_its_services() {
    let harbor = Harbor::with_shop().await;
    let trigger = json!({"stage": "staging", "sequence": "delivery", "service": "web",
        "version": "1"});
    let triggered = harbor.post("/v1/projects/shop/trigger", trigger).await.ok();
    let project = harbor.get("/v1/projects/shop").await.ok();
    let stages = json!([
        {"name": "staging", "sequences": ["delivery", "cleanup"]},
        {"name": "beta", "sequences": ["delivery"]},
    ]);
    assert_eq!(project["stages"], stages);
    assert_eq!(project["services"], json!(["web"]));
    assert_eq!((&project["autoServices"], &project["deployments"]), (&json!(true), &json!(1)));
    assert_eq!(project["hash"].as_str().unwrap().len(), 64);
    assert!(project["time"].as_str().unwrap().ends_with('Z'));

    let document = "apiVersion: seaway.dev/v1\nkind: Project\nmetadata: {name: shop}\n\
                    spec: {services: [cart, db]}\n";
    harbor.apply("shop", &[("project.yaml", document)]).await.ok();
    let project = harbor.get("/v1/projects/shop").await.ok();
    assert_eq!(project["services"], json!(["cart", "db"]));
    assert_eq!((&project["autoServices"], &project["stages"]), (&json!(false), &stages));

    let id = triggered["deployment"].as_str().unwrap();
    let path = format!("/v1/deployments/{id}");
    let located = harbor.get(&path).await.ok();
    assert_eq!(located, json!({"project": "shop", "deployment": id}));
    let foreign = harbor.token(&["admin"], Some("other")).await;
    let reply = harbor.send(harbor.request(Method::GET, &path), &foreign).await;
    assert_eq!(reply.problem(), (404, "unknown-deployment"));
    let unknown = harbor.get("/v1/deployments/0192f0c0-0000-7000-8000-000000000001").await;
    assert_eq!(
        unknown.detail().replace("0192f0c0-0000-7000-8000-000000000001", id),
        reply.detail()
    );
    assert_eq!(harbor.get("/v1/deployments/x").await.problem(), (404, "unknown-deployment"));
    assert_eq!(harbor.get("/v1/projects/none").await.problem(), (404, "unknown-project"));
    assert_eq!(harbor.get("/v1/projects/no%20name").await.problem(), (404, "unknown-project"));
}

#[tokio::test]
async fn a_log_that_was_changed_behind_its_back_is_found_out() {
    let harbor = Harbor::with_shop().await;
    let project = harbor.get("/v1/projects/shop").await.ok();
    let verified = harbor.get("/v1/projects/shop/verify").await.ok();
    assert_eq!((&verified["head"], &verified["hash"]), (&project["head"], &project["hash"]));
    let file = harbor.dir.path().join("seaway.db");
    let changed = std::process::Command::new("sqlite3")
        .arg(file)
        .arg("UPDATE record SET at = at + 1 WHERE seq = 1")
        .status();
    assert!(changed.is_ok_and(|status| status.success()), "the tool sqlite3 is needed");
    let reply = harbor.get("/v1/projects/shop/verify").await;
    assert_eq!(reply.problem(), (409, "log-broken"));
    assert!(reply.detail().contains("record 1"), "{}", reply.detail());
}
