use seaway_model::{Name, Seq};

use crate::decode::{self, Damaged};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, int};
use crate::question::Checkpoint;
use crate::store::Store;

/// A checkpoint is written in pieces of this size, each in a transaction of its own, so that an
/// append waits for one piece at most.
const PIECE: usize = 256 * 1024;

/// How many usable checkpoints are kept: the newest, and one to fall back to.
const KEPT: i64 = 2;

/// A checkpoint `c` that was not set aside and is one of this log, which may be archived up to it.
pub(crate) const USABLE: &str = "c.project = ?1 AND c.set_aside IS NULL AND c.hash =
       (SELECT CASE WHEN p.base = c.seq THEN p.base_hash ELSE
          (SELECT r.hash FROM record r WHERE r.project = ?1 AND r.seq = c.seq) END
        FROM project p WHERE p.id = ?1 AND p.base <= c.seq)";

impl Store {
    /// Keeps a checkpoint, and forgets all but the newest two. It counts from the moment at which
    /// its last piece is durable; one that was interrupted is never seen.
    pub async fn put_checkpoint(
        &self,
        project: &Name,
        checkpoint: &Checkpoint,
    ) -> Result<(), StoreError> {
        let id = self.project_id(project).await?;
        let seq = int(checkpoint.seq.0);
        self.forget_checkpoint(id, seq).await?;
        for (number, piece) in checkpoint.bytes.chunks(PIECE).enumerate() {
            let values = vec![id.into(), seq.into(), int(number as u64).into(), piece.into()];
            self.write(vec![Query::new(
                "INSERT INTO checkpoint_piece (project, seq, number, bytes)
                 VALUES (?1, ?2, ?3, ?4)",
                values,
            )])
            .await?;
        }
        let complete = Query::new(
            "INSERT INTO checkpoint (project, seq, hash, state_digest, length)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            vec![
                id.into(),
                seq.into(),
                checkpoint.hash.0.as_slice().into(),
                checkpoint.state_digest.0.as_slice().into(),
                int(checkpoint.bytes.len() as u64).into(),
            ],
        );
        self.write(vec![complete]).await?;
        self.forget_old_checkpoints(id).await
    }

    /// The newest checkpoint of this log that was not set aside, as it is found: whether its bytes
    /// are those that were written is for the caller to check.
    pub async fn checkpoint(&self, project: &Name) -> Result<Option<Checkpoint>, StoreError> {
        let id = self.project_id(project).await?;
        let newest = format!(
            "SELECT c.seq, c.hash, c.state_digest FROM checkpoint c WHERE {USABLE}
             ORDER BY c.seq DESC LIMIT 1"
        );
        let newest = Query::new(newest, vec![id.into()]);
        let Some(mut checkpoint) = self.select(newest, outline).await?.pop() else {
            return Ok(None);
        };
        let pieces = Query::new(
            "SELECT bytes FROM checkpoint_piece WHERE project = ?1 AND seq = ?2 ORDER BY number",
            vec![id.into(), int(checkpoint.seq.0).into()],
        );
        let pieces = self.select(pieces, |line| decode::blob(line, 0).map(<[u8]>::to_vec)).await?;
        checkpoint.bytes = pieces.concat();
        Ok(Some(checkpoint))
    }

    /// Takes a checkpoint out of use and notes why; the one before it is used from then on.
    pub async fn set_aside_checkpoint(
        &self,
        project: &Name,
        seq: Seq,
        reason: &str,
    ) -> Result<(), StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "UPDATE checkpoint SET set_aside = ?3 WHERE project = ?1 AND seq = ?2",
            vec![id.into(), int(seq.0).into(), reason.into()],
        );
        self.write(vec![query]).await.map(|_| ())
    }

    /// The first one after what is archived stays: it stands for the records that are gone.
    async fn forget_old_checkpoints(&self, id: i64) -> Result<(), StoreError> {
        let oldest_kept = "SELECT seq FROM checkpoint WHERE project = ?1 AND set_aside IS NULL
             ORDER BY seq DESC LIMIT 1 OFFSET ?2";
        let anchor = "SELECT min(c.seq) FROM checkpoint c JOIN project p ON p.id = c.project
             WHERE c.project = ?1 AND c.set_aside IS NULL AND p.base > 0 AND c.seq >= p.base";
        let old = format!("seq < ({oldest_kept}) AND seq <> coalesce(({anchor}), 0)");
        let sql = format!(
            "SELECT DISTINCT seq FROM checkpoint_piece WHERE project = ?1 AND {old}
             UNION SELECT seq FROM checkpoint WHERE project = ?1 AND {old}"
        );
        let old = Query::new(sql, vec![id.into(), (KEPT - 1).into()]);
        for seq in self.select(old, decode::first_int).await? {
            self.forget_checkpoint(id, seq).await?;
        }
        Ok(())
    }

    /// Removes a checkpoint, or what is left of one that was interrupted, piece by piece.
    async fn forget_checkpoint(&self, id: i64, seq: i64) -> Result<(), StoreError> {
        let values = vec![id.into(), seq.into()];
        let row = "DELETE FROM checkpoint WHERE project = ?1 AND seq = ?2";
        self.write(vec![Query::new(row, values.clone())]).await?;
        loop {
            let piece = Query::new(
                "DELETE FROM checkpoint_piece WHERE project = ?1 AND seq = ?2 AND number =
                   (SELECT max(number) FROM checkpoint_piece WHERE project = ?1 AND seq = ?2)
                 RETURNING number",
                values.clone(),
            );
            if matches!(self.write(vec![piece]).await?, None | Some(0)) {
                return Ok(());
            }
        }
    }
}

fn outline(line: &dyn Columns) -> Result<Checkpoint, Damaged> {
    Ok(Checkpoint {
        seq: Seq(decode::number(line, 0)?),
        hash: decode::digest(line, 1)?,
        state_digest: decode::digest(line, 2)?,
        bytes: Vec::new(),
    })
}
