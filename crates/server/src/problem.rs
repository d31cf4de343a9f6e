use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use seaway_api::{InvalidField, Problem};
use seaway_engine::RequestError;
use seaway_kernel::Refusal;
use seaway_model::Span;
use seaway_store::StoreError;

use crate::refusal;

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Why a request was not carried out, as it is told to whoever sent it.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    code: &'static str,
    detail: String,
    invalid: Vec<InvalidField>,
    retry_after: Option<Span>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), invalid: Vec::new(), retry_after: None }
    }

    pub(crate) fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    pub(crate) fn refused(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
    }

    pub(crate) fn not_found(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    pub(crate) fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    pub(crate) fn unavailable(code: &'static str, detail: impl Into<String>) -> Self {
        let failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail);
        failure.retry_after(Span::from_secs(1))
    }

    pub(crate) fn retry_after(self, span: Span) -> Self {
        Self { retry_after: Some(span), ..self }
    }

    pub(crate) fn invalid(self, invalid: Vec<InvalidField>) -> Self {
        Self { invalid, ..self }
    }

    /// The same for a project that is not there and one that a token may not see.
    pub(crate) fn unknown_project(name: &str) -> Self {
        Self::not_found(
            "unknown-project",
            format!("there is no project {name:?}; apply a Project or a Shipyard document first"),
        )
    }

    pub(crate) fn problem(self) -> Problem {
        Problem {
            about: format!("urn:seaway:problem:{}", self.code),
            title: self.code.replace('-', " "),
            status: self.status.as_u16(),
            code: self.code.to_owned(),
            detail: self.detail,
            invalid: self.invalid,
            request: crate::request::id(),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, retry_after) = (self.status, self.retry_after);
        let body = serde_json::to_vec(&self.problem()).expect("a problem is plain data");
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        if let Some(Span(micros)) = retry_after {
            let seconds = (micros.max(0) as u64).div_ceil(1_000_000).max(1);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        let text = error.to_string();
        match error {
            RequestError::Refused(refusal) => refusal.into(),
            RequestError::Overloaded(overloaded) => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "overloaded", text)
                    .retry_after(overloaded.retry_after)
            }
            RequestError::NotWritten { retry_after, .. } => {
                Self::unavailable("not-written", text).retry_after(retry_after)
            }
            RequestError::StaleLookup => Self::unavailable("busy", text),
            RequestError::Unknown => Self::unavailable(
                "outcome-unknown",
                "it is not known whether this was written; send it again with the same id or \
                 Idempotency-Key, which has no second effect",
            ),
            RequestError::NotOwner => Self::unavailable("not-owner", text),
            RequestError::Unreadable { .. } => Self::unavailable("unreadable", text),
            RequestError::Broken(_) => Self::unavailable("project-stopped", text),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let (status, code) = refusal::code(&refusal);
        Self::new(status, code, refusal.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::UnknownProject(name) => Self::unknown_project(name.as_str()),
            StoreError::Archived { .. } => {
                Self::new(StatusCode::GONE, "archived", error.to_string())
            }
            error => {
                tracing::error!(error = &error as &dyn std::error::Error, "the store failed");
                Self::unavailable("store-unavailable", error.to_string())
            }
        }
    }
}
