use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

/// Whether a worker is to stop. It never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    #[default]
    No,
    /// Claim nothing more, and end when everything that runs is done.
    Drain,
    /// End everything that runs.
    Now,
}

/// Passes on what is asked for, and loses patience when draining takes too long.
pub(super) async fn escalate(
    mut asked: watch::Receiver<Stop>,
    drain: Duration,
    level: watch::Sender<Stop>,
) {
    let mut own = level.subscribe();
    // The worker also stops by itself, when the server does not want it any more.
    tokio::select! {
        () = reached(&mut asked, Stop::Drain) => raise(&level, Stop::Drain),
        () = reached(&mut own, Stop::Drain) => {}
    }
    tokio::select! {
        () = reached(&mut asked, Stop::Now) => {}
        () = sleep(drain) => tracing::warn!("tasks still run at the end of the time to drain"),
    }
    raise(&level, Stop::Now);
}

pub(super) fn raise(level: &watch::Sender<Stop>, to: Stop) {
    level.send_if_modified(|level| {
        let more = *level < to;
        *level = (*level).max(to);
        more
    });
}

/// Waits until at least this much is asked for. Nobody who could ask any more never does.
pub(super) async fn reached(level: &mut watch::Receiver<Stop>, least: Stop) {
    if level.wait_for(|level| *level >= least).await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    const DRAIN: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn draining_ends_with_a_second_request_or_its_time() {
        for second in [true, false] {
            let (ask, asked) = watch::channel(Stop::No);
            let (level, mut seen) = watch::channel(Stop::No);
            let escalation = tokio::spawn(escalate(asked, DRAIN, level));
            let begun = Instant::now();
            ask.send_replace(Stop::Drain);
            reached(&mut seen, Stop::Drain).await;
            assert_eq!(begun.elapsed(), Duration::ZERO);
            if second {
                ask.send_replace(Stop::Now);
            }
            reached(&mut seen, Stop::Now).await;
            assert_eq!(begun.elapsed() >= DRAIN, !second);
            escalation.await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_that_nobody_can_stop_goes_on() {
        let (ask, asked) = watch::channel(Stop::No);
        let (level, _seen) = watch::channel(Stop::No);
        drop(ask);
        let escalation = escalate(asked, DRAIN, level.clone());
        let day = Duration::from_secs(86_400);
        assert!(tokio::time::timeout(day, escalation).await.is_err());
        assert_eq!(*level.borrow(), Stop::No);
    }
}
