use std::collections::VecDeque;
use std::future::{pending, ready};
use std::task::Poll;

use seaway_store::{AppendError, Receipt, Store};
use seaway_wire::Append;

/// The appends of one project on their way into the store.
///
/// A store that keeps their order gets each at once, so that it has the next one when it is done
/// with the one before. Any other gets one at a time, and the next ones are decided meanwhile.
pub(crate) struct Outbox {
    store: Store,
    ahead: usize,
    writing: VecDeque<Receipt>,
    decided: VecDeque<Append>,
}

impl Outbox {
    pub(crate) fn new(store: Store) -> Self {
        let ahead = if store.keeps_order() { usize::MAX } else { 1 };
        Self { store, ahead, writing: VecDeque::new(), decided: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, append: Append) {
        self.decided.push_back(append);
    }

    /// Hands to the store what it can take now.
    pub(crate) async fn submit(&mut self) {
        while self.writing.len() < self.ahead {
            let Some(append) = self.decided.pop_front() else { return };
            let mut receipt = match self.store.hand_in(append).await {
                Ok(receipt) => receipt,
                Err(error) => Box::pin(ready(Err(error))),
            };
            // The store may begin only when it is asked for the answer.
            self.writing.push_back(match futures::poll!(&mut receipt) {
                Poll::Ready(result) => Box::pin(ready(result)),
                Poll::Pending => receipt,
            });
        }
    }

    /// Waits until the store is done with its oldest append; for ever if it has none.
    pub(crate) async fn written(&mut self) -> Result<(), AppendError> {
        match self.writing.front_mut() {
            Some(writing) => {
                let result = writing.await;
                self.writing.pop_front();
                result
            }
            None => pending().await,
        }
    }

    /// Waits until nothing is on its way any more. After an append that failed, those behind it do
    /// not fit to the end of the log, and are refused.
    pub(crate) async fn rest(&mut self) {
        for writing in self.writing.drain(..) {
            drop(writing.await);
        }
    }
}
