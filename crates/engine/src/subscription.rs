use std::sync::Arc;

use seaway_model::{Name, Seq};
use seaway_store::StoreError;
use seaway_wire::Row;
use tokio::sync::watch;

use crate::engine::Context;
use crate::handle::ProjectHandle;

/// Why there are no more records.
#[derive(Debug, thiserror::Error)]
pub enum SubscriptionError {
    #[error("the log ends at record {head}, so nothing can follow record {after}; read from there")]
    AheadOfLog { after: Seq, head: Seq },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("this server no longer writes the project; go on after record {after} once one does")]
    Ended { after: Seq },
}

/// A reader of the log that keeps nothing but its position. A slow one costs no memory, and one
/// that was cut off goes on from the last record it saw, without gap or duplicate.
#[derive(Debug)]
pub struct Subscription {
    context: Arc<Context>,
    project: Arc<Name>,
    head: watch::Receiver<Seq>,
    after: Seq,
}

impl Subscription {
    const PAGE: usize = 500;

    pub(crate) async fn open(
        handle: &ProjectHandle,
        after: Seq,
    ) -> Result<Self, SubscriptionError> {
        let head = handle.context.store.head(&handle.project).await?.seq;
        if after > head {
            return Err(SubscriptionError::AheadOfLog { after, head });
        }
        Ok(Self {
            context: handle.context.clone(),
            project: handle.project.clone(),
            head: handle.head.clone(),
            after,
        })
    }

    /// The last record that was handed out: where another subscription would go on.
    #[must_use]
    pub fn after(&self) -> Seq {
        self.after
    }

    /// The next records, at least one. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Vec<Row>, SubscriptionError> {
        loop {
            // Marked as seen before the store is asked: a record that becomes durable in between
            // wakes the wait below.
            self.head.mark_unchanged();
            let rows = self.context.store.rows(&self.project, self.after, Self::PAGE).await?;
            if let Some(last) = rows.last() {
                self.after = last.seq;
                return Ok(rows);
            }
            if self.head.changed().await.is_err() {
                return Err(SubscriptionError::Ended { after: self.after });
            }
        }
    }
}
