use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use http::StatusCode;
use seaway_model::Span;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Failure;

/// Room for the bodies of all requests under way. What does not fit any more is refused before it
/// is read, so that many large requests at once cost their senders time and not the server memory.
#[derive(Debug)]
pub(crate) struct Bodies(Arc<Semaphore>);

/// What a client is told to wait that finds no room.
const RETRY_AFTER: Span = Span::from_secs(1);

impl Bodies {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes)))
    }

    /// Takes room for a body until the request is answered. One that does not say how long it is
    /// may become as long as its route allows.
    pub(crate) fn admit(&self, body: &Body, limit: usize) -> Result<OwnedSemaphorePermit, Failure> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let said = body.size_hint().upper().map(|bytes| u32::try_from(bytes).unwrap_or(limit));
        let bytes = said.unwrap_or(limit).min(limit);
        self.0.clone().try_acquire_many_owned(bytes).map_err(|_full| {
            let detail = "the bodies of other requests take all the room that there is";
            Failure::new(StatusCode::TOO_MANY_REQUESTS, "overloaded", detail)
                .retry_after(RETRY_AFTER)
        })
    }
}
