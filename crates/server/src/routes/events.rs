use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use seaway_api::{Accepted, BatchAccepted};
use seaway_model::Name;

use crate::app::App;
use crate::auth::Caller;
use crate::extract::{Asking, too_large};
use crate::intake::{self, Asked, Form, Incoming};
use crate::problem::Failure;
use crate::replica::FORWARDED;

/// Takes CloudEvents in: structured, binary, or several at once.
///
/// Answered when they are durable. The same source and id again gets the same answer, and has no
/// second effect.
#[utoipa::path(post, path = "/v1/events", tag = "events",
    request_body(content(
        (seaway_api::CloudEvent = "application/cloudevents+json"),
        (Vec<seaway_api::CloudEvent> = "application/cloudevents-batch+json"),
    )),
    responses(
        (status = 200, body = Accepted),
        (status = 207, body = Vec<BatchAccepted>, description = "each event of a batch"),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
        (status = 503, body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn post(
    State(app): State<Arc<App>>,
    Asking(caller): Asking,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, stream) = request.into_parts();
    let mut bytes: Bytes =
        axum::body::to_bytes(stream, LARGEST).await.map_err(|_cut| too_large())?;
    let form = intake::read(&parts.headers, &mut bytes)?;
    let texts = intake::texts(&form, &bytes)?;
    let desk = Desk { app: &app, caller: &caller, headers: &parts.headers };
    if let (Form::One, [text]) = (&form, &*texts) {
        return desk.take(text).await;
    }
    let mut answers = Vec::with_capacity(texts.len());
    for text in texts {
        answers.push(desk.take_one_of_many(text).await);
    }
    Ok((StatusCode::MULTI_STATUS, Json(answers)).into_response())
}

/// Events and batches of them.
const LARGEST: usize = 8 << 20;

/// Takes events in, or passes them on to the server that owns their project.
struct Desk<'a> {
    app: &'a App,
    caller: &'a Caller,
    headers: &'a HeaderMap,
}

impl Desk<'_> {
    async fn take(&self, text: &str) -> Result<Response, Failure> {
        let event = Incoming::read(text)?;
        let asked = Asked::read(self.caller, &event)?;
        if let Some(replicas) = &self.app.replicas {
            let forwarded = self.headers.contains_key(FORWARDED);
            if let Some(address) = self.app.elsewhere(&asked.project, forwarded).await? {
                let mut headers = HeaderMap::new();
                if let Some(token) = self.headers.get(header::AUTHORIZATION) {
                    headers.insert(header::AUTHORIZATION, token.clone());
                }
                let kind = HeaderValue::from_static("application/cloudevents+json");
                headers.insert(header::CONTENT_TYPE, kind);
                let body = Bytes::copy_from_slice(text.as_bytes());
                let to = (Method::POST, "/v1/events");
                let sent = replicas.forwarder.send(&address, to, &headers, body).await;
                if let (Err(_), Ok(name)) = (&sent, Name::new(&asked.project)) {
                    replicas.ownership.forget(&name);
                }
                return sent;
            }
        }
        let accepted = asked.take_in(self.app).await?;
        Ok(Json(accepted).into_response())
    }

    async fn take_one_of_many(&self, text: &str) -> BatchAccepted {
        let response = match self.take(text).await {
            Ok(response) => response,
            Err(failure) => failure.into_response(),
        };
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), LARGEST).await.unwrap_or_default();
        let (accepted, problem) = match status.is_success() {
            true => (serde_json::from_slice(&body).ok(), None),
            false => (None, serde_json::from_slice(&body).ok()),
        };
        BatchAccepted { status: status.as_u16(), accepted, problem }
    }
}
