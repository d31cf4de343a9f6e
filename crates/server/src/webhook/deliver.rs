use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, header};
use seaway_outbound::{Outbound, Redirects, Request};
use seaway_vault::Secret;
use url::Url;

use super::message::Message;
use super::retry::Heard;
use super::sign::signed_headers;
use crate::clock;

const TIMEOUT: Duration = Duration::from_secs(10);
/// Nobody reads what a receiver has to say beyond its status.
const RESPONSE_BYTES: usize = 4 << 10;

/// Sends a message once.
pub(super) async fn deliver(
    outbound: &Outbound,
    url: &Url,
    key: &Secret,
    message: Message,
) -> Heard {
    let seconds = clock::now().0.div_euclid(1_000_000);
    let headers = signed_headers(key.expose(), &message.id, seconds, &message.body);
    let mut headers = match headers {
        Ok(headers) => headers,
        Err(error) => return Heard::NotSent(error.to_string()),
    };
    let kind = HeaderValue::from_static("application/cloudevents+json; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    let request = Request {
        headers,
        body: Bytes::from(message.body),
        timeout: TIMEOUT,
        max_response_bytes: RESPONSE_BYTES,
        // A signed message goes to whom it was addressed.
        redirects: Redirects::Return,
        ..Request::new(Method::POST, url.clone())
    };
    match outbound.send(request).await {
        Ok(response) => Heard::answer(response.status, &response.headers, clock::now()),
        Err(error) => Heard::Silence(error.to_string()),
    }
}
