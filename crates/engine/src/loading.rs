use seaway_kernel::CheckpointError;
use seaway_model::{DeploymentId, Name, Seq, TargetId};
use seaway_store::{Checkpoint, Store, StoreError};
use seaway_wire::{ChainCheck, Linked};

use crate::core::{CheckpointRejected, LoadError, Loader, Need, Replay};
use crate::engine::chain;

const PAGE: usize = 2_000;

/// Why a project could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointRejected),
    #[error(transparent)]
    Log(#[from] LoadError),
    #[error("another process owns the project")]
    Elsewhere,
    #[error(
        "its records up to {base} are archived, and no checkpoint that stands for them can be \
         used; start the version of Seaway that wrote it last, or restore a backup"
    )]
    NothingBefore { base: Seq },
}

/// A project that was folded up to the end of its log.
#[derive(Debug)]
pub(crate) struct Folded {
    pub(crate) replay: Replay,
    /// Position of the checkpoint that it began with; 0 without one.
    pub(crate) checkpoint: Seq,
}

/// Folds the log of a project up to its end as it is now, from the newest checkpoint that can be
/// used. One that cannot is set aside and reported; what it would have saved is folded instead.
pub(crate) async fn fold(store: &Store, project: &Name) -> Result<Folded, ReadError> {
    let head = store.head(project).await?;
    let end = ChainCheck { seq: head.seq, hash: head.hash };
    while let Some(checkpoint) = newest_checkpoint(store, project).await? {
        let seq = checkpoint.seq;
        let loaded = match Loader::from_checkpoint(project, end, &checkpoint) {
            Ok(loader) => follow(store, project, loader).await,
            Err(rejected) => Err(rejected.into()),
        };
        let why = match loaded {
            Ok(replay) => return Ok(Folded { replay, checkpoint: seq }),
            Err(ReadError::Store(error)) => return Err(error.into()),
            // The version that wrote it can still use it.
            Err(ReadError::Checkpoint(CheckpointRejected::Unreadable {
                source: CheckpointError::Version,
                ..
            })) => break,
            Err(error) => chain(&error),
        };
        tracing::error!(%project, %seq, why, "checkpoint set aside");
        if let Err(error) = store.set_aside_checkpoint(project, seq, &why).await {
            tracing::warn!(%project, %seq, %error, "checkpoint could not be marked as set aside");
            break;
        }
    }
    let base = store.archived(project).await?.seq;
    if base > Seq(0) {
        return Err(ReadError::NothingBefore { base });
    }
    let replay = follow(store, project, Loader::from_start(project, end)).await?;
    Ok(Folded { replay, checkpoint: Seq(0) })
}

/// A damaged checkpoint is as good as none: the log has everything.
async fn newest_checkpoint(
    store: &Store,
    project: &Name,
) -> Result<Option<Checkpoint>, StoreError> {
    match store.checkpoint(project).await {
        Err(StoreError::Corrupt(error)) => {
            tracing::error!(%project, %error, "checkpoint damaged; folding the whole log");
            Ok(None)
        }
        found => found,
    }
}

async fn follow(store: &Store, project: &Name, mut loader: Loader) -> Result<Replay, ReadError> {
    let mut from = TargetId(0);
    loop {
        let page = store.targets(project, from, PAGE).await?;
        for target in &page {
            loader.define(&target.def)?;
            from = target.def.id.next();
        }
        if page.is_empty() {
            break;
        }
    }
    let mut replay = loader.replay()?;
    loop {
        match replay.need() {
            Need::Rows { after } => replay.feed(store.rows(project, after, PAGE).await?)?,
            Need::Deployment { deployment, before } => {
                let mut rows = deployment_rows(store, project, deployment).await?;
                rows.retain(|it| it.row.seq < before);
                replay.revive(&rows)?;
            }
            Need::Nothing => return Ok(replay),
        }
    }
}

/// All records of one deployment, in order.
pub(crate) async fn deployment_rows(
    store: &Store,
    project: &Name,
    deployment: DeploymentId,
) -> Result<Vec<Linked>, StoreError> {
    let mut rows: Vec<Linked> = Vec::new();
    loop {
        let after = rows.last().map_or(Seq(0), |it| it.row.seq);
        let page = store.deployment_rows(project, deployment, after, PAGE).await?;
        if page.is_empty() {
            return Ok(rows);
        }
        rows.extend(page);
    }
}
