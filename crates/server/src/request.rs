use std::sync::{Arc, OnceLock};

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;

use crate::app::App;
use crate::clock;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longer ones are replaced: they end up in logs.
const LONGEST_ID: usize = 100;

tokio::task_local! {
    /// The request that this task answers.
    static CURRENT: Arc<Current>;
}

#[derive(Debug)]
struct Current {
    id: HeaderValue,
    /// Who sent it, once that is known.
    actor: OnceLock<Arc<str>>,
}

/// What names the current request in the logs.
pub(crate) fn id() -> Option<String> {
    let id = CURRENT.try_with(|current| current.id.to_str().ok().map(str::to_owned));
    id.ok().flatten()
}

/// Says who sent the current request.
pub(crate) fn sent_by(actor: &Arc<str>) {
    let _ = CURRENT.try_with(|current| current.actor.set(actor.clone()));
}

/// Stands around everything: every request has an id, is counted, and leaves a line in the log.
pub(crate) async fn observe(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let id = named(request.headers()).unwrap_or_else(new_id);
    // Another server that it is passed on to uses the same.
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let path = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let current = Arc::new(Current { id: id.clone(), actor: OnceLock::new() });
    let mut response = CURRENT.scope(current.clone(), next.run(request)).await;
    let (status, took) = (response.status(), begun.elapsed());
    let path = path.as_ref().map_or("", MatchedPath::as_str);
    app.metrics.answered(&method, path, status, took);
    let actor = current.actor.get().map_or("", |actor| actor);
    let (request, status) = (id.to_str().unwrap_or_default(), status.as_u16());
    let milliseconds = took.as_secs_f64() * 1_000.0;
    // What went well is in the records and the metrics.
    if status < 400 {
        tracing::debug!(%method, path, status, milliseconds, request, actor, "request");
    } else {
        tracing::info!(%method, path, status, milliseconds, request, actor, "request");
    }
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// The id that a request came with, if it can be used as one.
fn named(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(REQUEST_ID)?;
    let text = id.to_str().ok()?;
    let plain = !text.is_empty() && text.len() <= LONGEST_ID && !text.contains(' ');
    plain.then(|| id.clone())
}

fn new_id() -> HeaderValue {
    let id = clock::new_id().to_string();
    HeaderValue::from_str(&id).expect("an id is plain text")
}
