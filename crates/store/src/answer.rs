use seaway_model::{Digest, Name, Seq};
use seaway_wire::KeptAnswer;

use crate::decode;
use crate::error::StoreError;
use crate::log_store::{Query, int};
use crate::store::Store;

impl Store {
    /// What a request with this key was answered with, if there was one and it is not forgotten.
    pub async fn kept_answer(
        &self,
        project: &Name,
        key: &Digest,
    ) -> Result<Option<KeptAnswer>, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT key, at, deployment, revision FROM answer WHERE project = ?1 AND key = ?2",
            vec![id.into(), key.0.as_slice().into()],
        );
        Ok(self.select(query, decode::answer).await?.pop())
    }

    /// Forgets the oldest answers that were given before a position, `limit` at most, and says how
    /// many. Fewer than `limit` means that none of them is left.
    pub async fn forget_answers(
        &self,
        project: &Name,
        before: Seq,
        limit: usize,
    ) -> Result<u64, StoreError> {
        let id = self.project_id(project).await?;
        let values = vec![id.into(), int(before.0).into(), int(limit as u64).into()];
        let old = "SELECT key FROM answer WHERE project = ?1 AND at < ?2 ORDER BY at, key LIMIT ?3";
        let count = Query::new(format!("SELECT count(*) FROM ({old}) a"), values.clone());
        let forgotten = self.select(count, decode::first_int).await?;
        let sql = format!("DELETE FROM answer WHERE project = ?1 AND key IN ({old})");
        self.write(vec![Query::new(sql, values)]).await?;
        Ok(forgotten.first().map_or(0, |count| count.unsigned_abs()))
    }
}
