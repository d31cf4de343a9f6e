use anyhow::{Result, bail};
use seaway_engine::core::{Loader, Need};
use seaway_model::{Name, Seq, TargetId};
use seaway_store::{Checkpoint, Store};
use seaway_wire::ChainCheck;

const PAGE: usize = 10_000;

/// Folds the whole log as the engine does, and gives the checkpoint that it would write.
pub(crate) async fn checkpoint(store: &Store, project: &Name) -> Result<Checkpoint> {
    let head = store.head(project).await?;
    let end = ChainCheck { seq: head.seq, hash: head.hash };
    let mut loader = Loader::from_start(project, end);
    let mut from = TargetId(1);
    loop {
        let page = store.targets(project, from, PAGE).await?;
        let Some(last) = page.last() else { break };
        from = last.def.id.next();
        page.iter().try_for_each(|target| loader.define(&target.def))?;
    }
    let mut replay = loader.replay()?;
    loop {
        match replay.need() {
            Need::Rows { after } => replay.feed(store.rows(project, after, PAGE).await?)?,
            Need::Deployment { deployment, .. } => bail!("{deployment} was never retried"),
            Need::Nothing => return Ok(replay.checkpoint()),
        }
    }
}

/// Position of the checkpoint that the next start would use.
pub(crate) async fn last_checkpoint(store: &Store, project: &Name) -> Result<Option<Seq>> {
    Ok(store.checkpoint(project).await?.map(|checkpoint| checkpoint.seq))
}
