use seaway_api::Record;
use serde_json::Value;

use crate::harbor::Harbor;

const LOG: &str = "/v1/projects/shop/records";

async fn seqs(harbor: &Harbor, query: &str) -> Vec<u64> {
    let (mut found, mut next) = (Vec::new(), String::new());
    loop {
        let page = harbor.get(&format!("{LOG}?limit=3{query}{next}")).await.ok();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 3);
        found.extend(items.iter().map(|it| it["seq"].as_u64().unwrap()));
        match page["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => return found,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_listed_by_every_filter_in_both_orders() {
    let harbor = Harbor::with_shop().await;
    harbor.register("helm", &["action"]).await;
    let first = harbor.trigger("staging.cleanup", "cart", "1").await;
    harbor.work("helm", "pass").await;
    harbor.until_state(&first, "finished").await;
    let second = harbor.trigger("staging.cleanup", "till", "2").await;
    harbor.work("helm", "fail").await;
    harbor.until_state(&second, "failed").await;

    let all = harbor.get(&format!("{LOG}?limit=1000")).await.ok();
    let all: Vec<Record> = serde_json::from_value(all["items"].clone()).unwrap();
    let every: Vec<u64> = (1..=all.len() as u64).collect();
    let which = |wanted: &dyn Fn(&Record) -> bool| -> Vec<u64> {
        all.iter().filter(|it| wanted(it)).map(|it| it.seq).collect()
    };
    assert_eq!(seqs(&harbor, "").await, every);
    let back: Vec<u64> = every.iter().rev().copied().collect();
    assert_eq!(seqs(&harbor, "&order=newest").await, back);

    let id: uuid::Uuid = second.parse().unwrap();
    let of_second = |it: &Record| it.deployment == Some(id);
    assert_eq!(seqs(&harbor, &format!("&deployment={second}")).await, which(&of_second));
    assert_eq!(seqs(&harbor, "&service=till").await, which(&of_second));
    assert_eq!(seqs(&harbor, "&revision=2").await, which(&|it| it.revision == Some(2)));
    let done = |it: &Record| it.kind == "task-done";
    assert_eq!(seqs(&harbor, "&kind=task-done").await, which(&done));
    let failed = |it: &Record| it.kind == "task-done" && it.fact == "failed";
    assert_eq!(seqs(&harbor, "&kind=task-failed").await, which(&failed));
    assert!(!which(&failed).is_empty());
    assert_eq!(seqs(&harbor, "&fact=claimed").await, which(&|it| it.fact == "claimed"));
    let below = |it: &Record| it.target.starts_with("shop/staging/cleanup");
    for under in ["shop/staging/cleanup", "staging/cleanup/"] {
        assert_eq!(seqs(&harbor, &format!("&under={under}")).await, which(&below), "{under}");
    }
    let fifth = &all[4].at;
    let since = format!("&since={fifth}&until=7");
    assert_eq!(seqs(&harbor, &since).await, which(&|it| it.at >= *fifth && it.seq <= 7));

    for (bad, known) in [
        ("kind=tasks", "task-done"),
        ("fact=done", "finished"),
        ("order=up", "oldest"),
        ("since=soon", "since"),
        ("service=a/b", "service"),
        ("revision=one", "revision"),
        ("deployment=cart", "deployment"),
        ("kind=task-failed&fact=finished", "failed"),
        ("colour=red", "colour"),
    ] {
        let reply = harbor.get(&format!("{LOG}?{bad}")).await;
        assert_eq!(reply.problem(), (400, "bad-query"), "{bad}");
        assert!(reply.detail().contains(known), "{bad}: {}", reply.detail());
    }
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_executors_say_is_in_the_log_as_they_said_it() {
    let harbor = Harbor::with_shop().await;
    harbor.register("helm", &["action"]).await;
    let id = harbor.trigger("staging.cleanup", "cart", "1").await;
    harbor.work("helm", "pass").await;
    harbor.until_state(&id, "finished").await;
    let page = harbor.get(&format!("{LOG}?kind=task-done&fact=finished")).await.ok();
    let said = page["items"].as_array().unwrap().iter().find(|it| !it["data"].is_null()).unwrap();
    let answer = said["data"]["answer"].as_str().unwrap();
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["message"], "it is a pass");
    harbor.close().await;
}
