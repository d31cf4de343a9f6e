use reqwest::Method;

use crate::harbor::Harbor;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_names_its_request() {
    let harbor = Harbor::with_shop().await;
    let ask = async |path: &str, id: Option<&str>| {
        let mut request = harbor.request(Method::GET, path).bearer_auth(&harbor.admin);
        if let Some(id) = id {
            request = request.header("x-request-id", id);
        }
        let response = request.send().await.unwrap();
        let named = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        let problem: serde_json::Value = response.json().await.unwrap_or_default();
        (named, problem["request"].as_str().map(str::to_owned))
    };
    assert_eq!(ask("/v1/projects/shop", Some("mine-7")).await, ("mine-7".to_owned(), None));
    // Also where nobody was let in, and where there is nothing.
    for path in ["/v1/projects/none", "/nowhere", "/v1/projects/shop/records?kind=x"] {
        let (named, told) = ask(path, Some("mine-8")).await;
        assert_eq!((&*named, told.as_deref()), ("mine-8", Some("mine-8")), "{path}");
        let (one, told) = ask(path, None).await;
        assert_eq!(told.as_deref(), Some(&*one), "{path}");
        assert_ne!(one, ask(path, None).await.0);
    }
    let long = "x".repeat(200);
    for bad in ["two words", &long] {
        assert_ne!(ask("/healthz", Some(bad)).await.0, bad);
    }
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_counted_by_route_without_naming_projects() {
    let harbor = Harbor::with_shop().await;
    harbor.trigger("staging.delivery", "cart", "1").await;
    harbor.get("/v1/projects/shop/status").await.ok();
    harbor.get("/v1/projects/none/status").await;
    harbor.get("/made/up/by/somebody").await;
    let response = harbor.http.get(format!("{}/metrics", harbor.url)).send().await.unwrap();
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    let text = response.text().await.unwrap();
    let board = r#"seaway_requests_total{method="GET",path="/v1/projects/{project}/status""#;
    for line in [
        &*format!("{board},status=\"2xx\"}} 1"),
        &*format!("{board},status=\"4xx\"}} 1"),
        r#"seaway_requests_total{method="GET",path="",status="4xx"} 1"#,
        "seaway_projects 1",
        "seaway_deployments_in_progress 1",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("made/up"), "{text}");
    let of = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse().unwrap()
    };
    assert!(of("process_resident_memory_bytes ") > 1e6);
    assert!(of("seaway_store_bytes ") > 1e3);
    harbor.close().await;
}
