use serde_json::{Value, json};

use crate::harbor::Harbor;

const BOARD: &str = "/v1/projects/shop/status";

/// The versions in a cell: what is there, what failed, what moves.
fn cell(board: &Value, service: &str, stage: &str) -> (Value, Value, Vec<Value>) {
    let stages = board["stages"].as_array().unwrap();
    let column = stages.iter().position(|it| it == stage).unwrap();
    let rows = board["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["service"] == service).unwrap();
    let cell = &row["cells"][column];
    let moving = cell["moving"].as_array().cloned().unwrap_or_default();
    assert_eq!(cell["count"], moving.len());
    let moving = moving.iter().map(|it| it["version"].clone()).collect();
    (cell["current"]["version"].clone(), cell["failed"]["version"].clone(), moving)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_board_shows_what_is_where_now_and_at_any_time() {
    let harbor = Harbor::with_shop().await;
    harbor.register("helm", &["deployment"]).await;
    harbor.register("tester", &["test"]).await;
    let none = Value::Null;
    let empty = harbor.get(BOARD).await.ok();
    assert_eq!((&empty["stages"], &empty["rows"]), (&json!(["staging", "beta"]), &json!([])));

    let first = harbor.trigger("staging.delivery", "cart", "1.0").await;
    harbor.work("helm", "pass").await;
    harbor.work("tester", "pass").await;
    harbor.work("helm", "pass").await;
    harbor.until_state(&first, "finished").await;
    let then = harbor.get(BOARD).await.ok();
    for stage in ["staging", "beta"] {
        assert_eq!(cell(&then, "cart", stage), (json!("1.0"), none.clone(), vec![]), "{stage}");
    }

    let second = harbor.trigger("staging.delivery", "cart", "1.1").await;
    harbor.work("helm", "pass").await;
    harbor.work("tester", "fail").await;
    harbor.until_state(&second, "failed").await;
    harbor.trigger("staging.delivery", "till", "7").await;
    let task = harbor.claim("helm").await;
    let now = harbor.get(BOARD).await.ok();
    assert_eq!(cell(&now, "cart", "staging"), (json!("1.0"), json!("1.1"), vec![]));
    assert_eq!(cell(&now, "cart", "beta"), (json!("1.0"), none.clone(), vec![]));
    assert_eq!(cell(&now, "till", "staging"), (none.clone(), none.clone(), vec![json!("7")]));
    harbor.finish(&task, "pass", "").await.ok();

    // Looking back shows what was seen then, by position and by time.
    let at = then["at"].as_u64().unwrap();
    for as_of in [at.to_string(), then["time"].as_str().unwrap().to_owned()] {
        let back = harbor.get(&format!("{BOARD}?asOf={as_of}")).await.ok();
        assert_eq!((&back["at"], &back["time"]), (&then["at"], &then["time"]), "{as_of}");
        assert_eq!(back["rows"][0], then["rows"][0], "{as_of}");
        assert_eq!(cell(&back, "till", "staging"), (none.clone(), none.clone(), vec![]));
    }
    for ahead in ["1000000", "2999-01-01T00:00:00Z"] {
        let reply = harbor.get(&format!("{BOARD}?asOf={ahead}")).await;
        assert_eq!(reply.problem(), (422, "not-reached"), "{ahead}");
    }
    let bad = harbor.get(&format!("{BOARD}?asOf=yesterday")).await;
    assert_eq!(bad.problem(), (400, "bad-query"));
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_board_comes_in_pieces_with_services_that_were_never_delivered() {
    let harbor = Harbor::with_shop().await;
    let project = "
apiVersion: seaway.dev/v1
kind: Project
metadata: {name: shop}
spec: {services: [a, b, c, d, e]}
";
    harbor.apply("shop", &[("project.yaml", project)]).await.ok();
    harbor.trigger("staging.delivery", "c", "1").await;
    let (mut seen, mut next) = (Vec::new(), String::new());
    loop {
        let board = harbor.get(&format!("{BOARD}?limit=2{next}")).await.ok();
        let rows = board["rows"].as_array().unwrap();
        assert!(rows.len() <= 2 && rows.iter().all(|row| row["cells"][1].is_object()));
        seen.extend(rows.iter().map(|row| row["service"].as_str().unwrap().to_owned()));
        match board["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, ["a", "b", "c", "d", "e"]);
    harbor.close().await;
}
