use std::time::Duration;

use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harbor::{Harbor, Reply};

/// Somebody who says that so many bytes will come, and takes their time once they may send them.
async fn slow(harbor: &Harbor, token: &str, bytes: usize) -> TcpStream {
    let address = harbor.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/events HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\n\
         content-type: application/cloudevents+json\r\ncontent-length: {bytes}\r\n\
         expect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

/// The first words of an answer.
async fn answer(stream: &mut TcpStream) -> String {
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Something that is no event, which is found out when it was read.
async fn large(harbor: &Harbor, token: &str) -> Reply {
    let request = harbor.request(Method::POST, "/v1/events");
    let request = request.header("content-type", "application/cloudevents+json");
    harbor.send(request.body(vec![b' '; 20_000]), token).await
}

/// More than there is room for is refused before it is read, and taken again once there is room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_do_not_fit_are_refused_and_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    let harbor = Harbor::set_up(dir, |settings| settings.bodies = 100_000).await;
    let other = harbor.token(&["deliver"], None).await;
    let third = harbor.token(&["execute"], None).await;
    let mut first = slow(&harbor, &harbor.admin, 45_000).await;
    // One token gets half of the room, and the rest is for others.
    assert_eq!(large(&harbor, &harbor.admin).await.problem(), (429, "overloaded"));
    assert_eq!(large(&harbor, &other).await.status, 400);
    let mut second = slow(&harbor, &other, 45_000).await;
    assert_eq!(large(&harbor, &third).await.problem(), (429, "overloaded"));
    harbor.get("/v1/projects").await.ok();
    for slow in [&mut first, &mut second] {
        slow.write_all(&vec![b' '; 45_000]).await.unwrap();
        assert_eq!(answer(slow).await, "HTTP/1.1 400");
    }
    for token in [&harbor.admin, &other, &third] {
        assert_eq!(large(&harbor, token).await.status, 400);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_never_comes_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let set = |settings: &mut seaway_server::Settings| {
        settings.bodies = 100_000;
        settings.patience = Duration::from_secs(1);
    };
    let harbor = Harbor::set_up(dir, set).await;
    let mut never = slow(&harbor, &harbor.admin, 45_000).await;
    assert_eq!(answer(&mut never).await, "HTTP/1.1 408");
    assert_eq!(large(&harbor, &harbor.admin).await.status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_room_for_connections_can_be_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let harbor = Harbor::set_up(dir, |settings| settings.connections = 1).await;
    let address = harbor.url.strip_prefix("http://").unwrap();
    let mut only = TcpStream::connect(address).await.unwrap();
    only.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert_eq!(answer(&mut only).await, "HTTP/1.1 200");
    tokio::time::timeout(Duration::from_secs(60), harbor.close()).await.unwrap();
}
