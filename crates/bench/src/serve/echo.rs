use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use tokio::runtime::Runtime;

use crate::web::listen;

/// Gives back whatever it gets: what HTTP alone costs.
pub(crate) fn echo() -> Result<()> {
    let router = Router::new().route("/v1/events", post(|body: Bytes| async { body }));
    Runtime::new().context("starting the runtime")?.block_on(listen(router))
}
