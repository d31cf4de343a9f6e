use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use seaway_model::{Name, Span};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::engine::{Context, Projects};
use crate::project::stopped;

/// Keeps the leases of all projects that this process owns, and ends those that it lost.
///
/// What protects the log is the epoch that every append names. The lease makes sure that a process
/// that others have given up stops answering questions, too.
pub(crate) async fn keep(
    context: Arc<Context>,
    ttl: Span,
    projects: Arc<Projects>,
    mut stop: watch::Receiver<bool>,
) {
    let ttl = Duration::from_micros(ttl.0.unsigned_abs());
    loop {
        tokio::select! {
            () = tokio::time::sleep(ttl / 3) => {}
            () = stopped(&mut stop) => return,
        }
        let asked = Instant::now();
        let owner = &context.options.owner;
        let span = Span(i64::try_from(ttl.as_micros()).unwrap_or(i64::MAX));
        match context.store.renew_leases(owner, span).await {
            Ok(held) => {
                context.held_until.send_replace(Some(asked + ttl));
                let held: BTreeSet<Name> = held.into_iter().map(|(name, _)| name).collect();
                end_lost(&projects, &held, asked);
            }
            Err(error) => tracing::warn!(%error, "leases could not be renewed"),
        }
    }
}

fn end_lost(projects: &Projects, held: &BTreeSet<Name>, asked: Instant) {
    let projects = projects.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, slot) in &*projects {
        let leased = slot.leased.get().is_some_and(|since| *since < asked);
        if leased && !held.contains(name) {
            slot.revoke.send_replace(true);
        }
    }
}
