use std::sync::{Arc, OnceLock};
use std::time::Duration;

use seaway_model::{Name, Seq};
use seaway_store::StoreError;
use seaway_wire::Row;
use tokio::sync::watch;

use crate::core::RequestError;
use crate::engine::Context;
use crate::handle::ProjectHandle;
use crate::project::stopped;

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
///
/// What this server writes is seen at once. Another server may own the project, before or after
/// this one, and nobody tells us what it writes: while nothing comes, the store is asked twice a
/// second.
#[derive(Debug)]
pub struct Subscription {
    context: Arc<Context>,
    project: Arc<Name>,
    head: watch::Receiver<Seq>,
    ended: Arc<OnceLock<RequestError>>,
    stop: watch::Receiver<bool>,
    after: Seq,
}

impl Subscription {
    const PAGE: usize = 100;

    /// How old a record of another server may get before it is seen.
    const LOOK: Duration = Duration::from_millis(500);

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
            ended: handle.ended.clone(),
            stop: handle.context.stop.clone(),
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
            self.wait().await?;
        }
    }

    /// Until the log may have grown.
    async fn wait(&mut self) -> Result<(), SubscriptionError> {
        let ended = SubscriptionError::Ended { after: self.after };
        let elsewhere = self.ended.get() == Some(&RequestError::NotOwner);
        tokio::select! {
            changed = self.head.changed(), if !elsewhere => match changed {
                Ok(()) => Ok(()),
                // Its task is gone. If that is because of another owner, that one writes on.
                Err(_) if self.ended.get() == Some(&RequestError::NotOwner) => Ok(()),
                Err(_) => Err(ended),
            },
            () = stopped(&mut self.stop), if elsewhere => Err(ended),
            () = tokio::time::sleep(Self::LOOK) => Ok(()),
        }
    }
}
