use std::collections::VecDeque;
use std::future::{pending, ready};
use std::task::Poll;

use futures::future::BoxFuture;
use seaway_store::{AppendError, Store};
use seaway_wire::Append;

/// The appends of one project on their way into the store.
///
/// The store gets one at a time, because a store with several connections would not keep their
/// order; the next ones are decided meanwhile.
pub(crate) struct Outbox {
    store: Store,
    writing: Option<BoxFuture<'static, Result<(), AppendError>>>,
    decided: VecDeque<Append>,
}

impl Outbox {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, writing: None, decided: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, append: Append) {
        self.decided.push_back(append);
    }

    /// Hands the next append to the store, unless it is still working on the one before.
    pub(crate) async fn submit(&mut self) {
        if self.writing.is_some() {
            return;
        }
        let Some(append) = self.decided.pop_front() else { return };
        let store = self.store.clone();
        let mut writing = Box::pin(async move { store.append(append).await });
        // A future does nothing before it is polled.
        self.writing = Some(match futures::poll!(&mut writing) {
            Poll::Ready(result) => Box::pin(ready(result)),
            Poll::Pending => writing,
        });
    }

    /// Waits until the store is done with its append; for ever if it has none.
    pub(crate) async fn written(&mut self) -> Result<(), AppendError> {
        match &mut self.writing {
            Some(writing) => {
                let result = writing.await;
                self.writing = None;
                result
            }
            None => pending().await,
        }
    }
}
