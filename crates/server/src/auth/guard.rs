use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{DefaultBodyLimit, RawPathParams, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, StatusCode, header};
use seaway_api::Scope;
use seaway_model::Name;

use super::Caller;
use crate::app::App;
use crate::extract::Sent;
use crate::problem::Failure;
use crate::replica::FORWARDED;
use crate::request;

/// What a route asks of whoever comes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Anybody.
    Open,
    Scope(Scope),
    /// A scope, be it for one project only; then the handler keeps to that project.
    Within(Scope),
    /// A token; what it may do depends on what is in the body, and the handler asks.
    ByContent,
}

/// Stands before every route of the table.
pub(crate) async fn guard(
    State((app, guard, limit)): State<(Arc<App>, Guard, usize)>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Result<Response, Failure> {
    if guard == Guard::Open {
        return Ok(next.run(request).await);
    }
    let caller = authenticate(&app, bearer(request.headers())?).await?;
    request::sent_by(&caller.name);
    let Ok(params) = params else { return Err(bad_path()) };
    let project = params.iter().find(|(name, _)| *name == "project").map(|(_, value)| value);
    match guard {
        Guard::Scope(scope) => caller.authorise(scope, project)?,
        Guard::Within(scope) => {
            caller.authorise(scope, caller.project.as_ref().map(Name::as_str))?;
        }
        Guard::Open | Guard::ByContent => {}
    }
    let (mut parts, body) = request.into_parts();
    let terms = (limit, app.settings.patience);
    let (body, _room) = app.bodies.read(&caller.token, body, terms).await?;
    if let (Some(replicas), Some(project)) = (&app.replicas, project) {
        let forwarded = parts.headers.contains_key(FORWARDED);
        if let Some(address) = app.elsewhere(project, forwarded).await? {
            let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
            let (method, headers) = (parts.method, &parts.headers);
            let sent = replicas.forwarder.send(&address, (method, path), headers, body).await;
            if sent.is_err()
                && let Ok(name) = Name::new(project)
            {
                replicas.ownership.forget(&name);
            }
            return sent;
        }
    }
    parts.extensions.insert(caller);
    parts.extensions.insert(Sent(body.clone()));
    let mut request = Request::from_parts(parts, Body::from(body));
    // It is no longer than that, but extractors have a limit of their own unless they are told.
    DefaultBodyLimit::max(limit).apply(&mut request);
    Ok(next.run(request).await)
}

fn bad_path() -> Failure {
    Failure::bad_request("bad-path", "the path is not valid UTF-8")
}

fn unauthenticated(detail: &str) -> Failure {
    let detail = format!("{detail}; send `Authorization: Bearer TOKEN`");
    Failure::new(StatusCode::UNAUTHORIZED, "unauthenticated", detail)
}

fn bearer(headers: &HeaderMap) -> Result<Box<str>, Failure> {
    let Some(header) = headers.get(header::AUTHORIZATION) else {
        return Err(unauthenticated("a token is needed"));
    };
    let secret = header.to_str().ok().and_then(|text| {
        let (scheme, secret) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim())
    });
    match secret.filter(|secret| secret.len() <= 200) {
        Some(secret) => Ok(secret.into()),
        None => Err(unauthenticated("the header Authorization holds no bearer token")),
    }
}

async fn authenticate(app: &App, secret: Box<str>) -> Result<Arc<Caller>, Failure> {
    match app.tokens.caller(&secret).await? {
        Some(caller) => Ok(caller),
        None => Err(unauthenticated("the token is not known here, was revoked, or has expired")),
    }
}
