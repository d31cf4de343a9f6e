use std::sync::Arc;
use std::time::Duration;

use seaway_model::Seq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// What whoever follows a log waits for. `None` means that it should stop.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    pub(super) head: watch::Receiver<Seq>,
    pub(super) stop: watch::Receiver<bool>,
    /// Those who follow take turns, so that only so many hold records and messages at once.
    pub(super) turns: Arc<Semaphore>,
}

impl Tail {
    /// The last record that is durable.
    pub(crate) fn head(&self) -> Seq {
        *self.head.borrow()
    }

    /// Waits until the log goes on after a position, and then for a turn.
    pub(crate) async fn turn_after(&mut self, position: Seq) -> Option<OwnedSemaphorePermit> {
        let (head, turns) = (&mut self.head, &self.turns);
        let turn = async {
            head.wait_for(|head| *head > position).await.ok()?;
            turns.clone().acquire_owned().await.ok()
        };
        tokio::select! {
            turn = turn => turn,
            () = stopped(&mut self.stop) => None,
        }
    }

    pub(crate) async fn pause(&mut self, pause: Duration) -> Option<()> {
        self.unless_stopped(tokio::time::sleep(pause)).await
    }

    /// Does something that need not be finished.
    pub(crate) async fn unless_stopped<T>(&mut self, what: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = what => Some(done),
            () = stopped(&mut self.stop) => None,
        }
    }

    pub(crate) async fn until_stopped(&mut self) {
        stopped(&mut self.stop).await;
    }
}

/// Whoever could ask it to stop may be gone.
pub(super) async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// How long to leave a store or a collector alone that failed so many times in a row.
pub(crate) fn pause_after(failures: u32) -> Duration {
    const LONGEST: Duration = Duration::from_secs(60);
    let seconds = 1_u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    Duration::from_secs(seconds).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute() {
        let pauses: Vec<u64> = (0..9).map(|failures| pause_after(failures).as_secs()).collect();
        assert_eq!(pauses, [1, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pause_after(u32::MAX).as_secs(), 60);
    }
}
