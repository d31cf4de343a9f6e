use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use http::header;

use crate::app::App;
use crate::problem::Failure;

/// Whether the process is alive.
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, body = String)))]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether requests can be answered now.
#[utoipa::path(get, path = "/readyz", tag = "server", responses(
    (status = 200, body = String),
    (status = 503, body = seaway_api::Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Result<&'static str, Failure> {
    app.store.projects(None, 1).await?;
    Ok("ready\n")
}

/// Counters for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "server", responses(
    (status = 200, body = String, content_type = "application/openmetrics-text"),
))]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    app.count().await;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text())
}
