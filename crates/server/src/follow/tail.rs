use std::sync::Arc;
use std::time::Duration;

use seaway_model::Seq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Go,
    /// What is under way may end, so that nobody has to do it again, but not for long.
    Finish,
    Stop,
}

/// How long that is.
const GRACE: Duration = Duration::from_secs(2);

/// What whoever follows a log waits for. `None` means that it should stop.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    pub(super) head: watch::Receiver<Seq>,
    pub(super) signal: watch::Receiver<Signal>,
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
            () = stopped(&mut self.signal) => None,
        }
    }

    pub(crate) async fn pause(&mut self, pause: Duration) -> Option<()> {
        tokio::select! {
            () = tokio::time::sleep(pause) => Some(()),
            () = stopped(&mut self.signal) => None,
        }
    }

    /// Does something that is done again by the next one if it is broken off.
    pub(crate) async fn unless_stopped<T>(&mut self, what: impl Future<Output = T>) -> Option<T> {
        let mut what = std::pin::pin!(what);
        tokio::select! {
            done = &mut what => return Some(done),
            () = stopped(&mut self.signal) => {}
        }
        let stop = self.signal.wait_for(|signal| *signal == Signal::Stop);
        tokio::select! {
            done = &mut what => Some(done),
            _ = stop => None,
            () = tokio::time::sleep(GRACE) => None,
        }
    }

    pub(crate) async fn until_stopped(&mut self) {
        stopped(&mut self.signal).await;
    }
}

/// Whoever gives signals may be gone.
async fn stopped(signal: &mut watch::Receiver<Signal>) {
    let _ = signal.wait_for(|signal| *signal != Signal::Go).await;
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
