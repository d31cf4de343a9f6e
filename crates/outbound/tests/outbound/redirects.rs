use bytes::Bytes;
use http::Method;
use seaway_outbound::{OutboundError, Redirects, Request};

use crate::server::Server;
use crate::{allowing, get};

fn post(url: &str) -> Request {
    let mut request = Request { method: Method::POST, ..get(url) };
    request.body = Bytes::from_static(b"hello");
    for (name, value) in [("authorization", "a"), ("webhook-signature", "s"), ("accept", "x/y")] {
        request.headers.insert(name, value.parse().unwrap());
    }
    request
}

#[tokio::test]
async fn a_redirect_to_a_denied_address_is_not_followed() {
    let (server, secret) = (Server::start().await, Server::start().await);
    let outbound = allowing([server.destination()]);
    let port = server.port;
    for to in [
        secret.url("/echo"),
        format!("http://localhost:{}/echo", secret.port),
        format!("http://localhost:{port}/echo"),
        format!("http://[::ffff:127.0.0.1]:{port}/echo"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ] {
        for status in [301, 302, 303, 307, 308] {
            let before = server.asked();
            let url = server.url(&format!("/to/{status}/{to}"));
            let error = outbound.send(get(&url)).await.unwrap_err();
            assert!(matches!(error, OutboundError::Denied(_)), "{to}: {error}");
            assert_eq!(server.asked(), before + 1);
        }
    }
    assert_eq!(secret.asked(), 0);
    let error = outbound.send(get(&server.url("/to/302/file:///etc/passwd"))).await.unwrap_err();
    assert_eq!(error, OutboundError::Scheme("file".to_owned()));
}

#[tokio::test]
async fn a_redirect_keeps_what_its_status_and_the_new_host_permit() {
    let (one, other) = (Server::start().await, Server::start().await);
    let outbound = allowing([one.destination(), other.destination()]);
    let agent = concat!("seaway/", env!("CARGO_PKG_VERSION"));
    for (status, to, expected) in [
        (307, "/echo".to_owned(), "POST a s x/y AGENT hello"),
        (302, "/echo".to_owned(), "GET a s x/y AGENT "),
        (308, other.url("/echo"), "POST - - x/y AGENT hello"),
        (303, other.url("/echo"), "GET - - x/y AGENT "),
    ] {
        let url = one.url(&format!("/to/{status}/{to}"));
        let response = outbound.send(post(&url)).await.unwrap();
        let body = String::from_utf8_lossy(&response.body);
        assert_eq!(body, expected.replace("AGENT", agent), "{status} {to}");
    }
}

#[tokio::test]
async fn redirects_end_after_a_few_or_are_left_to_the_caller() {
    let server = Server::start().await;
    let outbound = allowing([server.destination()]);
    let error = outbound.send(get(&server.url("/round"))).await.unwrap_err();
    assert!(matches!(error, OutboundError::Redirects { most: 5, .. }), "{error}");
    assert_eq!(server.asked(), 6);
    let request = Request { redirects: Redirects::Return, ..get(&server.url("/round")) };
    let response = outbound.send(request).await.unwrap();
    assert_eq!(
        (response.status.as_u16(), &response.headers["location"]),
        (302, &"/round".parse().unwrap())
    );
}
