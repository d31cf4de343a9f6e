use std::future::ready;

use std::time::Duration;

use reqwest::{Method, Response};
use seaway_api::Record;
use seaway_model::{Name, Seq};
use seaway_store::Checkpoint;

use crate::harbor::Harbor;

const STREAM: &str = "/v1/projects/shop/stream";

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// What comes through a stream, event after event.
struct Reader {
    response: Response,
    text: String,
}

impl Reader {
    async fn open(harbor: &Harbor, query: &str, last: Option<u64>) -> Self {
        let mut request = harbor.request(Method::GET, &format!("{STREAM}{query}"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.bearer_auth(&harbor.admin).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// The next record; none when the stream has ended.
    async fn next(&mut self) -> Option<Record> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let lines = event.lines();
                    lines.filter_map(|line| line.strip_prefix(name)).collect::<Vec<_>>()
                };
                let (id, kind, data) = (field("id: "), field("event: "), field("data: "));
                let rest = rest.to_owned();
                let record = (!data.is_empty()).then(|| {
                    assert_eq!((kind, data.len()), (vec!["record"], 1));
                    let record: Record = serde_json::from_str(data[0]).unwrap();
                    assert_eq!(id, [record.seq.to_string()]);
                    record
                });
                self.text = rest;
                match record {
                    Some(record) => return Some(record),
                    None => continue,
                }
            }
            let read = tokio::time::timeout(PATIENCE, self.response.chunk()).await.unwrap();
            self.text.push_str(std::str::from_utf8(&read.ok()??).unwrap());
        }
    }

    async fn seqs(&mut self, count: u64) -> Vec<u64> {
        let mut seqs = Vec::new();
        for _ in 0..count {
            seqs.push(self.next().await.unwrap().seq);
        }
        seqs
    }
}

async fn delivered() -> (Harbor, u64) {
    let harbor = Harbor::with_shop().await;
    harbor.register("helm", &["action"]).await;
    let id = harbor.trigger("staging.cleanup", "cart", "1").await;
    harbor.work("helm", "pass").await;
    harbor.until_state(&id, "finished").await;
    let head = harbor.store.head(&Name::new("shop").unwrap()).await.unwrap().seq;
    (harbor, head.0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_again_at_any_position_sees_every_record_once() {
    let (harbor, head) = delivered().await;
    assert!(head > 8, "there is something to read");
    for after in 0..=head {
        let rest: Vec<u64> = (after + 1..=head).collect();
        let mut by_query = Reader::open(&harbor, &format!("?after={after}"), None).await;
        assert_eq!(by_query.seqs(head - after).await, rest, "after {after}");
        // A browser comes again with the address that it began with.
        let mut by_header = Reader::open(&harbor, "?after=0", Some(after)).await;
        assert_eq!(by_header.seqs(head - after).await, rest, "after {after}");
    }
    // One connection for each record, cut off right behind it.
    for seq in 1..=head {
        let mut reader = Reader::open(&harbor, "", Some(seq - 1)).await;
        let record = reader.next().await.unwrap();
        let page = harbor.get(&format!("/v1/projects/shop/records?since={seq}&limit=1")).await;
        let listed: Record = serde_json::from_value(page.ok()["items"][0].clone()).unwrap();
        assert_eq!((record.seq, &record), (seq, &listed));
    }
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_position_only_new_records_come_as_they_are_written() {
    let (harbor, head) = delivered().await;
    let mut one = Reader::open(&harbor, "", None).await;
    let mut other = Reader::open(&harbor, &format!("?after={head}"), None).await;
    harbor.trigger("staging.cleanup", "till", "1").await;
    let now = harbor.store.head(&Name::new("shop").unwrap()).await.unwrap().seq.0;
    let new: Vec<u64> = (head + 1..=now).collect();
    assert!(!new.is_empty());
    // One that reads nothing does not keep the other, or the server, from going on.
    assert_eq!(one.seqs(now - head).await, new);
    harbor.work("helm", "pass").await;
    assert_eq!(other.seqs(now - head).await, new);
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_with_the_server() {
    let (harbor, head) = delivered().await;
    let mut reader = Reader::open(&harbor, &format!("?after={}", head - 1), None).await;
    assert_eq!(reader.seqs(1).await, [head]);
    let (_, end) = tokio::join!(harbor.close(), reader.next());
    assert_eq!(end, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn positions_that_are_not_there_are_told_apart() {
    let (harbor, head) = delivered().await;
    let ahead = harbor.get(&format!("{STREAM}?after={}", head + 1)).await;
    assert_eq!(ahead.problem(), (422, "not-reached"));
    for bad in ["?after=x", "?after=-1", "?from=1"] {
        assert_eq!(harbor.get(&format!("{STREAM}{bad}")).await.problem(), (400, "bad-query"));
    }
    let request = harbor.request(Method::GET, STREAM).header("last-event-id", "x");
    let reply = harbor.send(request, &harbor.admin).await;
    assert_eq!(reply.problem(), (400, "bad-query"));

    // What is archived is gone, and says so.
    let shop = Name::new("shop").unwrap();
    let id = harbor.get("/v1/projects/shop/deployments").await.ok()["items"][0]["id"].clone();
    let (seq, last) = (Seq(head), harbor.store.head(&shop).await.unwrap());
    assert_eq!(last.seq, seq);
    let checkpoint =
        Checkpoint { seq, hash: last.hash, state_digest: last.hash, bytes: b"any".to_vec() };
    harbor.store.put_checkpoint(&shop, &checkpoint).await.unwrap();
    let file = harbor.dir.path().join("archive.jsonl");
    harbor.store.archive(&shop, Seq(head - 1), &file, ready(())).await.unwrap();
    for after in [0, head - 2] {
        let gone = harbor.get(&format!("{STREAM}?after={after}")).await;
        assert_eq!(gone.problem(), (410, "archived"), "{after}");
    }
    let mut rest = Reader::open(&harbor, &format!("?after={}", head - 1), None).await;
    assert_eq!(rest.seqs(1).await, [head]);
    drop(rest);
    let path = format!("/v1/projects/shop/deployments/{}", id.as_str().unwrap());
    assert_eq!(harbor.get(&path).await.problem(), (410, "archived"));
    harbor.close().await;
}
