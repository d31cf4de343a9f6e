use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use seaway_model::{DeploymentId, Name};
use tokio::sync::Notify;
use tokio::time::timeout;

/// A task that waits for the executor.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) deployment: DeploymentId,
    /// Its number in the sequence.
    pub(super) task: usize,
    pub(super) service: Name,
    /// What its message says, as the text of a JSON object.
    pub(super) data: Box<str>,
}

/// Tasks that wait, in the order in which they became doable.
#[derive(Debug, Default)]
pub(super) struct Offers {
    queue: Mutex<VecDeque<Offer>>,
    changed: Notify,
}

impl Offers {
    pub(super) fn put(&self, offers: Vec<Offer>) {
        if offers.is_empty() {
            return;
        }
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).extend(offers);
        self.changed.notify_one();
    }

    /// Up to `max` tasks, or none when none came in time.
    pub(super) async fn take(&self, max: usize, wait: Duration) -> Vec<Offer> {
        let some = async {
            loop {
                let taken = self.try_take(max);
                if !taken.is_empty() {
                    return taken;
                }
                self.changed.notified().await;
            }
        };
        timeout(wait, some).await.unwrap_or_default()
    }

    fn try_take(&self, max: usize) -> Vec<Offer> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let count = queue.len().min(max);
        let taken = queue.drain(..count).collect();
        if !queue.is_empty() {
            // Somebody else who waits gets the rest.
            self.changed.notify_one();
        }
        taken
    }
}
