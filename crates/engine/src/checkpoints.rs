use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use seaway_model::Name;
use seaway_store::{Checkpoint, Store};
use tokio::sync::{mpsc, watch};

use crate::engine::chain;
use crate::loading::{ReadError, fold};
use crate::project::stopped;

/// A project whose last checkpoint lies far enough behind.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) project: Arc<Name>,
    /// Where its state is small; otherwise it has to be made.
    pub(crate) made: Option<Checkpoint>,
}

/// Writes checkpoints until the engine stops. For a large project it folds state of its own, from
/// the last checkpoint and the rows of the store, so that no writer waits for one.
pub(crate) async fn keep(
    store: Store,
    mut dues: mpsc::Receiver<Due>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        let due = tokio::select! {
            due = dues.recv() => due,
            () = stopped(&mut stop) => None,
        };
        let Some(due) = due else { return };
        let project = due.project.clone();
        tokio::select! {
            // Half a checkpoint is none: the next start folds a little more.
            () = stopped(&mut stop) => return,
            written = AssertUnwindSafe(carry_out(&store, due)).catch_unwind() => {
                let why = match written {
                    Ok(Ok(())) => continue,
                    Ok(Err(error)) => chain(&error),
                    // One project's log must not end the checkpoints of all others.
                    Err(_) => "of a bug, which was logged above".to_owned(),
                };
                tracing::warn!(%project, why, "checkpoint not written; trying later");
            },
        }
    }
}

async fn carry_out(store: &Store, due: Due) -> Result<(), ReadError> {
    match due.made {
        Some(made) => Ok(store.put_checkpoint(&due.project, &made).await?),
        None => write(store, &due.project).await,
    }
}

pub(crate) async fn write(store: &Store, project: &Name) -> Result<(), ReadError> {
    let folded = fold(store, project).await?;
    let checkpoint = folded.replay.checkpoint();
    if checkpoint.seq > folded.checkpoint {
        store.put_checkpoint(project, &checkpoint).await?;
    }
    Ok(())
}
