use serde_json::{Value, json};

use crate::harbor::Harbor;

async fn ids(harbor: &Harbor, query: &str) -> Vec<String> {
    let (mut found, mut next) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/projects/shop/deployments?limit=2{query}{next}");
        let page = harbor.get(&path).await.ok();
        let items = page["items"].as_array().unwrap();
        found.extend(items.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => return found,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deployments_are_listed_newest_first_by_service_and_state() {
    let harbor = Harbor::with_shop().await;
    harbor.register("helm", &["action"]).await;
    let mut all = Vec::new();
    for (number, result) in ["pass", "fail", "pass", "warning", "fail"].iter().enumerate() {
        let service = ["cart", "till"][number % 2];
        let id = harbor.trigger("staging.cleanup", service, &number.to_string()).await;
        harbor.work("helm", result).await;
        harbor.until_state(&id, if *result == "fail" { "failed" } else { "finished" }).await;
        all.push(id);
    }
    all.push(harbor.trigger("staging.cleanup", "cart", "9").await);
    let pick = |numbers: &[usize]| numbers.iter().map(|it| all[*it].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&harbor, "").await, pick(&[5, 4, 3, 2, 1, 0]));
    assert_eq!(ids(&harbor, "&service=till").await, pick(&[3, 1]));
    assert_eq!(ids(&harbor, "&state=failed").await, pick(&[4, 1]));
    assert_eq!(ids(&harbor, "&state=finished").await, pick(&[3, 2, 0]));
    assert_eq!(ids(&harbor, "&state=in-progress").await, pick(&[5]));
    assert_eq!(ids(&harbor, "&state=aborted").await, pick(&[]));
    assert_eq!(ids(&harbor, "&state=failed&service=till").await, pick(&[1]));
    for bad in ["state=over", "service=-", "limit=0", "limit=1001", "what=1", "cursor=%25"] {
        let reply = harbor.get(&format!("/v1/projects/shop/deployments?{bad}")).await;
        assert_eq!(reply.problem().0, 400, "{bad}");
    }
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deployment_is_shown_with_its_runs_and_who_did_them() {
    let harbor = Harbor::with_shop().await;
    harbor.register("helm", &["deployment"]).await;
    harbor.register("team%2Fjmeter", &["test"]).await;
    let id = harbor.trigger("staging.delivery", "cart", "1.2").await;
    harbor.work("helm", "pass").await;
    harbor.work("team%2Fjmeter", "warning").await;
    harbor.work("helm", "pass").await;
    let view = harbor.until_state(&id, "finished").await;
    assert_eq!((&view["service"], &view["version"]), (&json!("cart"), &json!("1.2")));
    assert!(view["started"].as_str() < view["ended"].as_str(), "{view}");
    let runs = view["runs"].as_array().unwrap();
    let shown = |run: &Value| (run["target"].clone(), run["state"].clone());
    assert_eq!(shown(&runs[0]), (json!("shop/staging/delivery#1"), json!("warned")));
    assert_eq!(shown(&runs[1]), (json!("shop/beta/delivery#1"), json!("passed")));
    let test = &runs[0]["tasks"][1];
    assert_eq!(test["executors"], json!(["team/jmeter"]));
    assert_eq!((&test["message"], &test["attempt"]), (&json!("it is a warning"), &json!(1)));
    let unknown = harbor.get("/v1/projects/shop/deployments/cart").await;
    assert_eq!(unknown.problem(), (404, "unknown-deployment"));
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn executors_are_listed_with_what_they_have_to_do() {
    let harbor = Harbor::with_shop().await;
    for name in ["c", "a", "b"] {
        harbor.register(name, &["deployment", "test"]).await;
    }
    harbor.trigger("staging.delivery", "cart", "1").await;
    let path = "/v1/projects/shop/executors";
    let busy = |page: &Value| page["items"][0]["tasks"] == 1;
    let page = harbor.until(&format!("{path}?limit=2"), busy).await;
    let names = |page: &Value| {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&page), ["a", "b"]);
    assert_eq!(page["items"][0]["ttlSeconds"], 60);
    assert_eq!(page["items"][0]["subscriptions"][1], json!({"task": "test"}));
    let next = page["next"].as_str().unwrap();
    let page = harbor.get(&format!("{path}?limit=2&cursor={next}")).await.ok();
    assert_eq!((names(&page), &page["next"]), (vec!["c".to_owned()], &Value::Null));
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_id_of_an_event_is_for_one_event_and_its_project_for_those_who_see_it() {
    let harbor = Harbor::with_shop().await;
    harbor.register("helm", &["action"]).await;
    let data = json!({"project": "shop", "service": "cart", "version": "1"});
    let event = |id: &str, kind: &str, task: &Value| {
        json!({
            "specversion": "1.0", "id": id, "source": "ci", "type": kind, "triggeredid": task,
            "data": data,
        })
    };
    let started = event("1", "staging.cleanup.triggered", &Value::Null);
    let first = harbor.post("/v1/events", started.clone()).await.ok();
    assert_eq!(harbor.post("/v1/events", started.clone()).await.ok(), first);
    let task = harbor.claim("helm").await["id"].clone();
    let changed = event("1", "action.status.changed", &task);
    let other = harbor.post("/v1/events", changed.clone()).await;
    assert_eq!(other.problem(), (409, "other-request"));
    harbor.post("/v1/events", event("2", "action.status.changed", &task)).await.ok();
    let other = event("2", "staging.cleanup.triggered", &Value::Null);
    assert_eq!(harbor.post("/v1/events", other).await.problem(), (409, "other-request"));
    let unreadable = event("3", "action.finished", &json!("x"));
    for scope in ["read", "deliver", "execute"] {
        let stranger = harbor.token(&[scope], Some("other")).await;
        for event in [&started, &changed, &unreadable] {
            let request = harbor.request(reqwest::Method::POST, "/v1/events").json(event);
            let reply = harbor.send(request, &stranger).await;
            assert_eq!(reply.problem(), (404, "unknown-project"), "{scope} {event}");
        }
    }
    harbor.close().await;
}
