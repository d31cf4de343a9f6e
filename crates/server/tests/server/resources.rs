use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harbor::{Harbor, Reply};

const ROOT: &str = "/v1/projects/shop/resources";

async fn put(harbor: &Harbor, path: &str, content: impl Into<reqwest::Body>) -> Reply {
    let request = harbor.request(Method::PUT, &format!("{ROOT}/{path}")).body(content);
    harbor.send(request, &harbor.admin).await
}

/// Where the resource that was found belongs.
fn level(found: &Value) -> (Option<&str>, Option<&str>) {
    (found["stage"].as_str(), found["service"].as_str())
}

#[tokio::test]
async fn a_resource_holds_any_bytes_at_its_level() {
    let harbor = Harbor::with_shop().await;
    let bytes: Vec<u8> = (0..=255).collect();
    let path = "jmeter/load%20test.jmx?stage=beta&service=cart";
    let change = put(&harbor, path, bytes).await.ok();
    assert_eq!(change["name"], "jmeter/load test.jmx");
    assert_eq!((&change["kind"], &change["change"]), (&json!("Resource"), &json!("created")));
    let found = harbor.get(&format!("{ROOT}/{path}")).await.ok();
    assert_eq!(level(&found), (Some("beta"), Some("cart")));
    assert!(found["content"].as_str().unwrap().starts_with("AAECAwQFBgcICQ"));
    assert_eq!(found["digest"], change["digest"]);
    let other = harbor.get(&format!("{ROOT}/jmeter/load%20test.jmx")).await;
    assert_eq!(other.problem(), (404, "unknown-resource"));
    assert_eq!(put(&harbor, path, "new").await.ok()["change"], "changed");
    assert_eq!(put(&harbor, path, "new").await.ok()["change"], "unchanged");
    let once = || {
        let request = harbor.request(Method::DELETE, &format!("{ROOT}/{path}"));
        request.header("idempotency-key", "gone")
    };
    for _ in 0..2 {
        assert_eq!(harbor.send(once(), &harbor.admin).await.ok()["change"], "deleted");
    }
    let gone = harbor.delete(&format!("{ROOT}/{path}")).await;
    assert_eq!(gone.problem(), (404, "unknown-resource"));
}

#[tokio::test]
async fn a_key_belongs_to_one_exact_request() {
    let harbor = Harbor::with_shop().await;
    let send = async |method: Method, path: &str, content: &'static str| {
        let request = harbor.request(method, &format!("{ROOT}/{path}")).body(content);
        harbor.send(request.header("idempotency-key", "k"), &harbor.admin).await.ok()
    };
    let content = async |path: &str| {
        let found = harbor.get(&format!("{ROOT}/{path}")).await.ok();
        found["content"].as_str().unwrap().to_owned()
    };
    for (path, text, expected) in
        [("a", "one", "b25l"), ("a", "two", "dHdv"), ("a?stage=beta", "one", "b25l")]
    {
        send(Method::PUT, path, text).await;
        assert_eq!(content(path).await, expected, "{path} {text}");
    }
    assert_eq!(send(Method::DELETE, "a", "").await["change"], "deleted");
    assert_eq!(harbor.get(&format!("{ROOT}/a")).await.problem(), (404, "unknown-resource"));
}

#[tokio::test]
async fn a_resource_is_looked_up_from_the_nearest_level_to_the_widest() {
    let harbor = Harbor::with_shop().await;
    let levels =
        ["?stage=beta&service=cart", "?stage=beta", "?service=cart", ""].map(str::to_owned);
    for at in &levels {
        put(&harbor, &format!("slo.yaml{at}"), at.clone()).await.ok();
    }
    let ask = format!("{ROOT}/slo.yaml?stage=beta&service=cart&lookup=true");
    let expected =
        [(Some("beta"), Some("cart")), (Some("beta"), None), (None, Some("cart")), (None, None)];
    for (at, expected) in levels.iter().zip(expected) {
        assert_eq!(level(&harbor.get(&ask).await.ok()), expected);
        harbor.delete(&format!("{ROOT}/slo.yaml{at}")).await.ok();
    }
    assert_eq!(harbor.get(&ask).await.problem(), (404, "unknown-resource"));
}

#[tokio::test]
async fn resources_are_listed_by_level_and_are_no_documents() {
    let harbor = Harbor::with_shop().await;
    for path in ["a.yaml", "b.yaml?stage=beta", "c.yaml?stage=beta&service=cart"] {
        put(&harbor, path, "x").await.ok();
    }
    let paths = async |query: &str| {
        let page = harbor.get(&format!("{ROOT}{query}")).await.ok();
        let items = page["items"].as_array().unwrap().iter();
        items.map(|it| it["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths("").await, ["a.yaml", "b.yaml", "c.yaml"]);
    assert_eq!(paths("?stage=beta").await, ["b.yaml", "c.yaml"]);
    assert_eq!(paths("?service=cart").await, ["c.yaml"]);
    let first = harbor.get(&format!("{ROOT}?limit=2")).await.ok();
    let next = first["next"].as_str().unwrap();
    assert_eq!(paths(&format!("?limit=2&cursor={next}")).await, ["c.yaml"]);
    let documents = harbor.get("/v1/projects/shop/documents").await.ok();
    assert_eq!(documents["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
    let harbor = Harbor::with_shop().await;
    for (path, expected) in [
        ("a%2F..%2Fb", (400, "bad-path")),
        ("a//b", (400, "bad-path")),
        ("a%0Ab", (400, "bad-path")),
        ("a%FFb", (400, "bad-path")),
        ("a?stage=no%20name", (400, "bad-name")),
        ("a?stage=bet", (422, "unknown-stage")),
        ("a?stages=beta", (400, "bad-query")),
    ] {
        assert_eq!(put(&harbor, path, "x").await.problem(), expected, "{path}");
    }
    let document = "apiVersion: seaway.dev/v1\nkind: Project\nmetadata: {name: shop}\n\
                    spec: {services: [cart]}\n";
    harbor.apply("shop", &[("p.yaml", document)]).await.ok();
    let foreign = put(&harbor, "a?service=card", "x").await;
    assert_eq!(foreign.problem(), (422, "unknown-service"));
    let largest = put(&harbor, "a", vec![7; 1 << 20]).await;
    assert_eq!(largest.status, StatusCode::OK);
    let larger = put(&harbor, "a", vec![7; (1 << 20) + 1]).await;
    assert_eq!(larger.problem(), (413, "too-large"));
    // What a resource changes is the resource alone.
    let project = harbor.get("/v1/projects/shop").await.ok();
    assert_eq!(project["services"], json!(["cart"]));
}
