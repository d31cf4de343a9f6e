use std::time::Duration;

use http::StatusCode;
use seaway_model::Span;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::problem::Failure;

/// Lets one at a time through to what reads or writes a whole store, so that it never takes all
/// that the server has.
#[derive(Debug)]
pub(crate) struct Gate(Semaphore);

/// How long the next one stands before it.
const PATIENCE: Duration = Duration::from_secs(10);

impl Default for Gate {
    fn default() -> Self {
        Self(Semaphore::new(1))
    }
}

impl Gate {
    pub(crate) async fn enter(&self) -> Result<SemaphorePermit<'_>, Failure> {
        match tokio::time::timeout(PATIENCE, self.0.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => {
                let detail = "another verification, backup or archiving is under way; wait for it";
                let busy = Failure::new(StatusCode::TOO_MANY_REQUESTS, "busy", detail);
                Err(busy.retry_after(Span::from_secs(30)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_one_is_let_in_and_the_next_is_told_to_come_back() {
        let gate = Gate::default();
        let first = gate.enter().await.unwrap();
        assert_eq!(gate.enter().await.unwrap_err().problem().status, 429);
        drop(first);
        assert!(gate.enter().await.is_ok());
    }
}
