use seaway_model::Epoch;
use seaway_store::AppendError;

use crate::core::{AppendFailure, Obstacle, RequestError};
use crate::engine::chain;
use crate::project::{ProjectTask, Turn};

/// What the store's error means for those who wait.
pub(crate) fn failure(error: &AppendError) -> AppendFailure {
    match error {
        AppendError::Fenced { .. } => AppendFailure::Fenced,
        AppendError::Unavailable(_) | AppendError::Failed(_) => AppendFailure::Unknown,
        AppendError::DiskFull => AppendFailure::NotWritten(Obstacle::DiskFull),
        AppendError::Position { .. }
        | AppendError::Duplicate { .. }
        | AppendError::Malformed(_)
        | AppendError::UnknownProject(_)
        | AppendError::ReadOnly
        | AppendError::Corrupt(_) => AppendFailure::NotWritten(Obstacle::Conflict),
    }
}

/// How the project goes on after an append that failed. `epoch` is given when nothing that was
/// written under it can still be under way.
pub(crate) fn turn(task: &mut ProjectTask, error: &AppendError, epoch: Option<Epoch>) -> Turn {
    let why = chain(error);
    tracing::error!(project = %task.project, why, "append failed; dropping the state");
    match error {
        AppendError::Fenced { .. } => Turn::End(RequestError::NotOwner),
        // Taking ownership is a write too. With the one it has, the project is read and stays
        // readable; writing is tried again after a pause.
        AppendError::DiskFull => {
            let hold = Some(task.hold(Obstacle::DiskFull));
            Turn::Load { keep: epoch, hold }
        }
        AppendError::Unavailable(_) => Turn::Down(task.hold(Obstacle::Unavailable)),
        AppendError::Position { .. } => Turn::Down(task.hold(Obstacle::Conflict)),
        AppendError::Duplicate { .. } | AppendError::Malformed(_) => task.after_bug(&why),
        AppendError::Failed(_) => {
            task.context.store_failed.send_replace(Some(why.clone().into()));
            Turn::End(RequestError::Broken(why.into()))
        }
        AppendError::UnknownProject(_) | AppendError::ReadOnly | AppendError::Corrupt(_) => {
            Turn::End(RequestError::Broken(why.into()))
        }
    }
}
