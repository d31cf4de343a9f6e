use std::time::Duration;

use http::header;
use seaway_outbound::{OutboundError, Request};
use tokio::net::TcpListener;

use crate::server::Server;
use crate::{allowing, get};

#[tokio::test]
async fn any_status_is_a_response_with_the_headers_that_matter() {
    let server = Server::start().await;
    let outbound = allowing([server.destination()]);
    for status in [200, 404, 429, 503] {
        let response = outbound.send(get(&server.url(&format!("/status/{status}")))).await.unwrap();
        assert_eq!((response.status.as_u16(), &response.body[..]), (status, &b"said so"[..]));
        assert_eq!(response.headers["retry-after"], "7");
        assert!(!response.truncated && !response.headers.contains_key("x-other"));
    }
}

#[tokio::test]
async fn a_response_is_read_up_to_its_limit() {
    let server = Server::start().await;
    let outbound = allowing([server.destination()]);
    for (path, limit, expected) in [
        ("/bytes/1000", 1_001, (1_000, false)),
        ("/bytes/1000", 1_000, (1_000, false)),
        ("/bytes/1000", 999, (999, true)),
        ("/bytes/1000", 0, (0, true)),
        ("/bytes/0", 0, (0, false)),
        ("/endless", 100_000, (100_000, true)),
    ] {
        let request = Request { max_response_bytes: limit, ..get(&server.url(path)) };
        let response = outbound.send(request).await.unwrap();
        assert_eq!((response.body.len(), response.truncated), expected, "{path} {limit}");
    }
}

#[tokio::test]
async fn the_time_limit_covers_the_answer_and_all_of_its_body() {
    let server = Server::start().await;
    let outbound = allowing([server.destination()]);
    for path in ["/silent", "/slow"] {
        let after = Duration::from_millis(200);
        let error = outbound.send(Request { timeout: after, ..get(&server.url(path)) }).await;
        let origin = format!("http://127.0.0.1:{}", server.port);
        assert_eq!(error, Err(OutboundError::TimedOut { origin, after }), "{path}");
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_or_breaks_off_is_told_without_the_path() {
    let server = Server::start().await;
    let closed = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap();
    let outbound = allowing([server.destination(), closed.to_string().parse().unwrap()]);
    let error = outbound.send(get(&format!("http://{closed}/secret?token=x"))).await.unwrap_err();
    assert!(matches!(error, OutboundError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("refused") && !error.to_string().contains("secret"));
    let error = outbound.send(get(&server.url("/broken?token=secret"))).await.unwrap_err();
    assert!(matches!(error, OutboundError::BrokeOff { .. }), "{error}");
    assert!(!error.to_string().contains("secret"));
    // A server that speaks no TLS is no reason to panic.
    let https = server.url("/echo").replace("http:", "https:");
    let error = outbound.send(get(&https)).await.unwrap_err();
    assert!(
        matches!(error, OutboundError::Unreachable { .. } | OutboundError::NoAuthorities(_)),
        "{error}"
    );
}

#[tokio::test]
async fn headers_that_steer_the_connection_are_refused() {
    let server = Server::start().await;
    let outbound = allowing([server.destination()]);
    for name in [header::HOST, header::CONTENT_LENGTH, header::TRANSFER_ENCODING] {
        let mut request = get(&server.url("/echo"));
        request.headers.insert(name.clone(), "1".parse().unwrap());
        assert_eq!(outbound.send(request).await, Err(OutboundError::Header(name)));
    }
    let mut request = get(&server.url("/echo?token=secret"));
    request.headers.insert(header::AUTHORIZATION, "secret".parse().unwrap());
    let shown = format!("{request:?}");
    assert!(shown.contains("127.0.0.1") && !shown.contains("secret"), "{shown}");
}
