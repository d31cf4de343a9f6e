use std::time::Duration;

use seaway_api::Task;
use seaway_client::Client;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::worker::backoff::Backoff;
use crate::worker::reaction::Reaction;

/// A lease is renewed when this part of it is over.
const PART: u32 = 3;
/// The longest that passes until a task that was aborted is ended.
const LONGEST: Duration = Duration::from_secs(5);

/// Keeps the lease of a task, and returns when it is lost.
pub(super) async fn keep(client: &Client, project: &str, task: &Task) {
    let mut lease = Lease::granted(Instant::now(), task.lease_seconds);
    loop {
        sleep_until(lease.next).await;
        let sent = Instant::now();
        let Ok(answer) = timeout_at(lease.until, client.renew(project, &task.id)).await else {
            tracing::warn!(task = %task.target, "the lease ran out before it could be renewed");
            return;
        };
        match answer {
            Ok(_) => lease = Lease::granted(sent, task.lease_seconds),
            Err(error) => match Reaction::to(&error) {
                Reaction::Gone | Reaction::Refused => {
                    tracing::info!(task = %task.target, %error, "the task was taken away");
                    return;
                }
                // The command goes on as long as nobody else can have its task.
                Reaction::Again(asked) => {
                    tracing::warn!(task = %task.target, %error, "the lease was not renewed");
                    lease.later(asked);
                }
                Reaction::Denied => {
                    tracing::warn!(task = %task.target, %error, "the lease was not renewed");
                    lease.later(None);
                }
            },
        }
    }
}

/// When a lease ends, and when it is renewed before that.
#[derive(Clone, Copy, Debug)]
struct Lease {
    until: Instant,
    next: Instant,
    backoff: Backoff,
}

impl Lease {
    fn granted(at: Instant, seconds: u32) -> Self {
        let length = Duration::from_secs(seconds.into());
        let part = (length / PART).min(LONGEST);
        Self { until: at + length, next: at + part, backoff: Backoff::up_to(part / 2) }
    }

    fn later(&mut self, asked: Option<Duration>) {
        self.next = (Instant::now() + self.backoff.wait(asked)).min(self.until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_lease_is_renewed_in_time_and_tried_again_until_its_end() {
        let begun = Instant::now();
        assert_eq!(Lease::granted(begun, 60).next - begun, Duration::from_secs(5));
        let mut lease = Lease::granted(begun, 9);
        assert_eq!(lease.next - begun, Duration::from_secs(3));
        let mut tries = 0;
        while lease.next < lease.until {
            tokio::time::advance(lease.next - Instant::now()).await;
            lease.later(None);
            tries += 1;
        }
        assert!((4..12).contains(&tries), "{tries}");
        assert_eq!(lease.next, begun + Duration::from_secs(9));
    }
}
