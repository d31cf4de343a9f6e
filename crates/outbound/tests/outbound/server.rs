use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::routing::{any, get};
use futures::StreamExt;
use futures::stream;
use http::{HeaderMap, Method, StatusCode, header};
use seaway_outbound::Destination;
use tokio::net::TcpListener;

/// A server on this machine that counts what reaches it.
pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let counted = axum::middleware::from_fn(move |request, next: axum::middleware::Next| {
            counter.fetch_add(1, Ordering::SeqCst);
            next.run(request)
        });
        let router = Router::new()
            .route("/echo", any(echo))
            .route("/status/{status}", any(|Path(status): Path<u16>| async move { answer(status) }))
            .route("/to/{status}/{*url}", any(redirect))
            .route("/round", get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/round")]) }))
            .route(
                "/bytes/{count}",
                get(|Path(count): Path<usize>| async move { vec![b'x'; count] }),
            )
            .route("/endless", get(|| async { Body::from_stream(stream::repeat_with(chunk)) }))
            .route("/slow", get(|| async { Body::from_stream(first().chain(stream::pending())) }))
            .route("/broken", get(|| async { Body::from_stream(first().chain(breaking())) }))
            .route("/silent", get(std::future::pending::<StatusCode>))
            .layer(counted);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { port, asked }
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn destination(&self) -> Destination {
        self.named("127.0.0.1")
    }

    pub(crate) fn named(&self, host: &str) -> Destination {
        format!("{host}:{}", self.port).parse().unwrap()
    }
}

/// What it was asked, in lines.
async fn echo(method: Method, headers: HeaderMap, body: Bytes) -> String {
    let shown = |name: &str| headers.get(name).map_or("-", |it| it.to_str().unwrap()).to_owned();
    let names = ["authorization", "webhook-signature", "accept", "user-agent"];
    let headers: Vec<String> = names.iter().map(|name| shown(name)).collect();
    format!("{method} {} {}", headers.join(" "), String::from_utf8_lossy(&body))
}

fn answer(status: u16) -> (StatusCode, [(&'static str, &'static str); 3], &'static str) {
    let headers = [("retry-after", "7"), ("content-type", "text/plain"), ("x-other", "y")];
    (StatusCode::from_u16(status).unwrap(), headers, "said so")
}

async fn redirect(
    Path((status, url)): Path<(u16, String)>,
) -> (StatusCode, [(header::HeaderName, String); 1]) {
    (StatusCode::from_u16(status).unwrap(), [(header::LOCATION, url)])
}

fn chunk() -> Result<Bytes, Infallible> {
    Ok(Bytes::from_static(&[b'x'; 1_024]))
}

fn first() -> impl futures::Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static {
    stream::iter([Ok(Bytes::from_static(b"first"))])
}

fn breaking() -> impl futures::Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static {
    stream::iter([Err(std::io::Error::other("the server fails"))])
}
