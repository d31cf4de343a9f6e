use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use seaway_engine::ProjectHandle;
use seaway_model::{DeploymentId, Digest, Name};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::auth::Caller;
use crate::problem::Failure;

/// The project that a path names, and whoever asks.
#[derive(Debug)]
pub(crate) struct In {
    pub(crate) caller: Arc<Caller>,
    pub(crate) name: Name,
    pub(crate) project: ProjectHandle,
}

impl FromRequestParts<Arc<App>> for In {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let name = param(parts, app, "project").await?;
        let project = app.project(&name).await?;
        Ok(Self { caller: caller(parts)?, name: project.project().clone(), project })
    }
}

/// The name of a project that need not exist.
#[derive(Debug)]
pub(crate) struct NewIn(pub(crate) Name);

impl FromRequestParts<Arc<App>> for NewIn {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let text = param(parts, app, "project").await?;
        let name = Name::new(&text);
        name.map(Self).map_err(|error| Failure::refused("bad-name", error.to_string()))
    }
}

/// Whoever asks, where no project is named.
#[derive(Debug)]
pub(crate) struct Asking(pub(crate) Arc<Caller>);

impl<S: Send + Sync> FromRequestParts<S> for Asking {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        caller(parts).map(Self)
    }
}

fn caller(parts: &Parts) -> Result<Arc<Caller>, Failure> {
    let missing = || Failure::new(StatusCode::UNAUTHORIZED, "unauthenticated", "a token is needed");
    parts.extensions.get::<Arc<Caller>>().cloned().ok_or_else(missing)
}

/// The deployment that a path names.
#[derive(Debug)]
pub(crate) struct Of(pub(crate) DeploymentId);

impl FromRequestParts<Arc<App>> for Of {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let text = param(parts, app, "deployment").await?;
        let id = uuid::Uuid::try_parse(&text).map_err(|_not| {
            let detail = format!("{text:?} is not the id of a deployment, which is a UUID");
            Failure::not_found("unknown-deployment", detail)
        })?;
        Ok(Self(DeploymentId(id)))
    }
}

/// One part of the path, by its name in the route.
pub(crate) async fn param(
    parts: &mut Parts,
    app: &Arc<App>,
    name: &'static str,
) -> Result<String, Failure> {
    let bad = |_| Failure::bad_request("bad-path", "the path is not valid UTF-8");
    let params = RawPathParams::from_request_parts(parts, app).await.map_err(bad)?;
    let found = params.iter().find(|(it, _)| *it == name).map(|(_, value)| value.to_owned());
    found.ok_or_else(|| Failure::not_found("not-found", "there is nothing at this path"))
}

/// A body in JSON. One that is empty counts as `{}`.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let kind = content_type(request.headers());
        if !(kind.is_empty() || kind == "application/json" || kind.ends_with("+json")) {
            return Err(Failure::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported-media-type",
                format!("the body is {kind}; send application/json"),
            ));
        }
        let bytes = body(request, state).await?;
        let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        if bytes.trim_ascii_start().starts_with(b"[") {
            // Fields would otherwise be taken from it by their order.
            let detail = "the body is a list; send an object";
            return Err(Failure::refused("invalid-body", detail));
        }
        serde_json::from_slice(bytes).map(Self).map_err(|error| malformed(&error))
    }
}

/// The type of a body, in small letters and without parameters.
pub(crate) fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let value = value.unwrap_or_default().split(';').next().unwrap_or_default();
    value.trim().to_ascii_lowercase()
}

/// The whole body, up to the limit of the route.
pub(crate) async fn body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Failure> {
    Bytes::from_request(request, state).await.map_err(|rejection| {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            return too_large();
        }
        broken_body()
    })
}

pub(crate) fn broken_body() -> Failure {
    Failure::bad_request("broken-body", "the body ended before it was complete; send it again")
}

pub(crate) fn too_large() -> Failure {
    let detail = "the body is larger than this route takes; keep large things elsewhere and send \
                  a link";
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
}

/// JSON that cannot be read is 400; what can be read and does not fit is 422.
pub(crate) fn malformed(error: &serde_json::Error) -> Failure {
    if error.is_data() {
        Failure::refused("invalid-body", format!("the body does not fit: {error}"))
    } else {
        Failure::bad_request("malformed-json", format!("the body is not JSON: {error}"))
    }
}

/// The body as it was sent, beside the one that extractors read.
#[derive(Clone, Debug)]
pub(crate) struct Sent(pub(crate) Bytes);

/// The key under which the answer to a request is kept, if it names one. It covers the whole
/// request: whoever uses a name again for another one does not get the answer to the first.
#[derive(Debug)]
pub(crate) struct Once(pub(crate) Option<Digest>);

impl<S: Send + Sync> FromRequestParts<S> for Once {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let Some(key) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        let bytes = key.as_bytes();
        if bytes.is_empty() || bytes.len() > 255 {
            let detail = "an Idempotency-Key has between 1 and 255 characters";
            return Err(Failure::bad_request("bad-idempotency-key", detail));
        }
        let token = caller(parts)?.token.clone();
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let body = parts.extensions.get::<Sent>().map_or(&[][..], |sent| &sent.0);
        let body = digest(&[], body).to_string();
        let request = ["http", &token, parts.method.as_str(), path, &body];
        Ok(Self(Some(digest(&request, bytes))))
    }
}

/// A digest of several texts, whose borders count.
pub(crate) fn digest(texts: &[&str], last: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.update(last);
    Digest(hash.finalize().into())
}
