use std::time::Duration;

use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harbor::Harbor;

/// More than there is room for is refused before it is read, and taken again once there is room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_do_not_fit_are_refused_and_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    let harbor = Harbor::set_up(dir, |settings| settings.bodies = 100_000).await;
    let address = harbor.url.strip_prefix("http://").unwrap().to_owned();
    // Somebody who says that a lot will come, and takes their time.
    let mut slow = TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST /v1/events HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\n\
         content-type: application/cloudevents+json\r\ncontent-length: 90000\r\n\r\n{{",
        harbor.admin
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    let large = || {
        let request = harbor.request(Method::POST, "/v1/events");
        let request = request.header("content-type", "application/cloudevents+json");
        harbor.send(request.body(vec![b' '; 20_000]), &harbor.admin)
    };
    // It counts from when its head was read.
    let refused = async {
        loop {
            let reply = large().await;
            if reply.status == 429 {
                break reply;
            }
            tokio::task::yield_now().await;
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(60), refused).await.unwrap();
    assert_eq!(refused.problem(), (429, "overloaded"));
    harbor.get("/v1/projects").await.ok();
    slow.write_all(&vec![b' '; 89_999]).await.unwrap();
    let mut answer = [0; 12];
    slow.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 400");
    assert_eq!(large().await.status, 400);
}
