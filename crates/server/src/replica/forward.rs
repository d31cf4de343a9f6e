use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use seaway_engine::RequestError;

use crate::problem::Failure;

/// Says that a request comes from another server, which is not asked back.
pub(crate) const FORWARDED: HeaderName = HeaderName::from_static("seaway-forwarded-by");

/// Passes requests on to the server that owns their project, and answers back, as they are.
#[derive(Clone, Debug)]
pub(crate) struct Forwarder {
    client: reqwest::Client,
    replica: HeaderValue,
}

/// What belongs to one connection, and not to the request.
const HOP_BY_HOP: [HeaderName; 6] = [
    header::CONNECTION,
    header::HOST,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

impl Forwarder {
    /// Requests may take as long as they take: a claim waits, and a stream never ends.
    pub(crate) fn new(replica: &str) -> Result<Self, reqwest::Error> {
        let provider = rustls::crypto::ring::default_provider();
        // Another part of the process may have installed it; it is the same one.
        let _ = provider.install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(2))
            .tcp_keepalive(Duration::from_secs(5))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let replica =
            HeaderValue::from_str(replica).unwrap_or_else(|_| HeaderValue::from_static("another"));
        Ok(Self { client, replica })
    }

    /// Sends a request to the server at `address`. An error says whether it was not reached, or may
    /// have done what was asked before it went away.
    pub(crate) async fn send(
        &self,
        address: &str,
        (method, path): (Method, &str),
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response, Failure> {
        let url = format!("{}{path}", address.trim_end_matches('/'));
        let writes = !method.is_safe();
        let mut request = self.client.request(method, url).body(body);
        for (name, value) in headers {
            if !HOP_BY_HOP.contains(name) && name != header::CONTENT_LENGTH {
                request = request.header(name, value);
            }
        }
        let answer = request.header(FORWARDED, &self.replica).send().await.map_err(|error| {
            tracing::debug!(%error, address, "the owner of a project does not answer");
            unanswered(writes && !error.is_connect())
        })?;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::from_u16(answer.status().as_u16())
            .unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        for (name, value) in answer.headers() {
            if !HOP_BY_HOP.contains(name) && name != header::CONTENT_LENGTH {
                response.headers_mut().append(name, value.clone());
            }
        }
        *response.body_mut() = Body::from_stream(answer.bytes_stream());
        Ok(response)
    }
}

/// An owner may have carried out a write before it was gone: sent again without the same key, it
/// might happen twice.
fn unanswered(maybe_written: bool) -> Failure {
    if maybe_written {
        return RequestError::Unknown.into();
    }
    Failure::unavailable(
        "owner-unreachable",
        "the server that owns the project does not answer; another takes over within seconds, so \
         send it again",
    )
}
