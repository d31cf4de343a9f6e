use seaway_client::{ClientError, Options};

use crate::script::{Script, header, problem};

fn opened(events: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}"
    )
}

fn event(seq: u64) -> String {
    let data = serde_json::json!({
        "seq": seq, "at": "t", "target": "shop", "kind": "event", "fact": "received",
        "attempt": 0, "n": 0, "by": "ann", "hash": "h"
    });
    format!("id: {seq}\nevent: record\ndata: {data}\n\n")
}

#[tokio::test]
async fn a_stream_goes_on_after_the_last_record_that_came() {
    let half = &event(6)[..20];
    let script = Script::play(vec![
        opened(&format!(": hello\n\n{}{half}", event(5))),
        problem(503, "stopping", ""),
        opened(&format!("{}{}{}", event(5), event(6), event(7))),
    ])
    .await;
    let mut stream = script.client(Options::default()).stream("shop", 4);
    for expected in 5..=7 {
        assert_eq!(stream.next().await.expect("it goes on").seq, expected);
    }
    assert_eq!(stream.after(), 7);
    let asked = script.asked().await;
    let positions: Vec<_> = asked.iter().map(|it| header(it, "last-event-id")).collect();
    assert_eq!(positions, [Some("4"), Some("5"), Some("5")]);
}

#[tokio::test]
async fn a_refused_stream_ends() {
    let script = Script::play(vec![problem(410, "too-old", "")]).await;
    let mut stream = script.client(Options::default()).stream("shop", 4);
    let error = stream.next().await.expect_err("it is refused");
    assert!(matches!(error, ClientError::Problem(_)) && error.is("too-old"), "{error:?}");
}
