use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harbor::Harbor;

async fn listed(harbor: &Harbor, secret: &str) -> Vec<Value> {
    let request = harbor.request(Method::GET, "/v1/tokens");
    let page = harbor.send(request, secret).await.ok();
    page["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_token_is_told_once_and_is_good_until_it_is_revoked() {
    let harbor = Harbor::with_shop().await;
    let create = json!({"name": "ci of the shop", "scopes": ["deliver", "execute"],
        "project": "shop", "expiresInSeconds": 3600});
    let made = harbor.post("/v1/tokens", create).await.ok();
    let (secret, id) = (made["secret"].as_str().unwrap(), made["id"].as_str().unwrap());
    assert!(secret.starts_with("swy_") && secret.len() > 40);
    assert_eq!(made["scopes"], json!(["deliver", "execute"]));
    assert_eq!((&made["project"], made.get("revoked")), (&json!("shop"), None));
    assert!(made["expires"].as_str() > made["created"].as_str());
    let all = listed(&harbor, &harbor.admin).await;
    assert!(!serde_json::to_string(&all).unwrap().contains("swy_"));
    assert_eq!(all.iter().map(|it| &it["name"]).collect::<Vec<_>>(), ["admin", "ci of the shop"]);

    let see = || harbor.send(harbor.request(Method::GET, "/v1/projects/shop"), secret);
    assert_eq!(see().await.status, StatusCode::OK);
    for _ in 0..2 {
        let revoked = harbor.delete(&format!("/v1/tokens/{id}")).await;
        assert_eq!((revoked.status, revoked.body), (StatusCode::NO_CONTENT, Value::Null));
        assert_eq!(see().await.problem(), (401, "unauthenticated"));
    }
    assert!(listed(&harbor, &harbor.admin).await[1]["revoked"].is_string());
    assert_eq!(harbor.delete("/v1/tokens/none").await.problem(), (404, "unknown-token"));
}

#[tokio::test]
async fn the_log_names_whoever_used_a_token() {
    let harbor = Harbor::with_shop().await;
    let token = harbor.token(&["deliver"], Some("shop")).await;
    let body = json!({"stage": "beta", "sequence": "delivery", "service": "cart", "version": "1"});
    let request = harbor.request(Method::POST, "/v1/projects/shop/trigger").json(&body);
    let at = harbor.send(request, &token).await.ok()["at"].as_u64().unwrap();
    let shop = seaway_model::Name::new("shop").unwrap();
    let rows = harbor.store.rows(&shop, seaway_model::Seq(0), 100).await.unwrap();
    assert!(rows.iter().any(|row| &*row.by == "deliver shop"), "as of {at}: {rows:?}");
}

#[tokio::test]
async fn the_admin_of_a_project_makes_tokens_for_it_alone() {
    let harbor = Harbor::with_shop().await;
    let boss = harbor.token(&["admin"], Some("shop")).await;
    harbor.token(&["read"], None).await;
    let make = async |body: Value| {
        let request = harbor.request(Method::POST, "/v1/tokens").json(&body);
        harbor.send(request, &boss).await
    };
    let own = make(json!({"name": "w", "scopes": ["execute"], "project": "shop"})).await.ok();
    let everywhere = make(json!({"name": "w", "scopes": ["read"]})).await;
    assert_eq!(everywhere.problem(), (403, "denied"));
    let foreign = make(json!({"name": "w", "scopes": ["read"], "project": "other"})).await;
    assert_eq!(foreign.problem(), (404, "unknown-project"));
    let names: Vec<_> = listed(&harbor, &boss).await.iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["admin shop", "w"]);
    let foreign = listed(&harbor, &harbor.admin).await.remove(0);
    let revoke = async |id: &Value| {
        let path = format!("/v1/tokens/{}", id.as_str().unwrap());
        harbor.send(harbor.request(Method::DELETE, &path), &boss).await
    };
    assert_eq!(revoke(&foreign["id"]).await.problem(), (404, "unknown-token"));
    assert_eq!(revoke(&own["id"]).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn the_last_admin_stays() {
    let harbor = Harbor::open().await;
    harbor.token(&["admin"], Some("shop")).await;
    let first = listed(&harbor, &harbor.admin).await.remove(0);
    let path = format!("/v1/tokens/{}", first["id"].as_str().unwrap());
    assert_eq!(harbor.delete(&path).await.problem(), (409, "last-admin"));
    let second = harbor.token(&["admin"], None).await;
    assert_eq!(harbor.delete(&path).await.status, StatusCode::NO_CONTENT);
    assert_eq!(listed(&harbor, &second).await.len(), 3);
    assert_eq!(harbor.get("/v1/tokens").await.problem(), (401, "unauthenticated"));
}

#[tokio::test]
async fn a_token_that_makes_no_sense_is_refused() {
    let harbor = Harbor::open().await;
    for (body, expected) in [
        (json!({"name": "", "scopes": ["read"]}), (422, "bad-name")),
        (json!({"name": "a\nb", "scopes": ["read"]}), (422, "bad-name")),
        (json!({"name": "Seaway", "scopes": ["read"]}), (422, "bad-name")),
        (json!({"name": "x".repeat(101), "scopes": ["read"]}), (422, "bad-name")),
        (json!({"name": "x", "scopes": []}), (422, "no-scope")),
        (json!({"name": "x", "scopes": ["write"]}), (422, "invalid-body")),
        (json!({"name": "x", "scopes": ["read"], "project": "a b"}), (422, "bad-name")),
        (json!({"name": "x", "scopes": ["read"], "expiresInSeconds": 0}), (422, "bad-expiry")),
        (
            json!({"name": "x", "scopes": ["read"], "expiresInSeconds": u64::MAX}),
            (422, "bad-expiry"),
        ),
        (json!({"name": "x", "scopes": ["read"], "expires": 7}), (422, "invalid-body")),
    ] {
        let reply = harbor.post("/v1/tokens", body.clone()).await;
        assert_eq!(reply.problem(), expected, "{body}");
    }
    assert_eq!(listed(&harbor, &harbor.admin).await.len(), 1);
}
