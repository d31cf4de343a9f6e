use seaway_model::{DeploymentId, Digest, Name, Revision, Seq, TargetId, Timestamp};
use seaway_wire::{DeploymentStart, Linked, Row, StoredTarget};

use crate::decode::{self, Damaged, ROW};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, int};
use crate::question::{Precedents, Stats};
use crate::store::Store;

impl Store {
    /// The records after a position, in order, except for those that were archived. Asking again
    /// with the last position that was returned follows the log as it grows and sees every record
    /// exactly once: the appends of a project are serialised, so that a position never becomes
    /// visible before a lower one.
    pub async fn rows(
        &self,
        project: &Name,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let id = self.project_id(project).await?;
        let sql = format!(
            "SELECT {ROW} FROM record r WHERE r.project = ?1 AND r.seq > ?2
             ORDER BY r.seq LIMIT ?3"
        );
        let values = vec![id.into(), int(after.0).into(), int(limit as u64).into()];
        self.select(Query::new(sql, values), decode::row).await
    }

    /// The records of one deployment after a position, in order, each with the hash before it. All
    /// of them: when some are archived, that is an error.
    pub async fn deployment_rows(
        &self,
        project: &Name,
        deployment: DeploymentId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Linked>, StoreError> {
        let id = self.project_id(project).await?;
        let archived = "FROM project p JOIN deployment d ON d.project = p.id
             WHERE p.id = ?1 AND d.id = ?2 AND d.seq <= p.base AND p.base > ?3";
        let sql = format!(
            "SELECT {ROW}, coalesce(
               (SELECT b.hash FROM record b WHERE b.project = ?1 AND b.seq = r.seq - 1),
               (SELECT p.base_hash FROM project p WHERE p.id = ?1 AND p.base = r.seq - 1))
             FROM record r WHERE r.project = ?1 AND r.seq IN
               (SELECT seq FROM record WHERE project = ?1 AND deployment = ?2 AND +seq > ?3
                ORDER BY +seq LIMIT ?4)
             AND NOT EXISTS (SELECT 1 {archived}) ORDER BY r.seq"
        );
        let bytes = deployment.0.as_bytes().as_slice();
        let mut values = vec![id.into(), bytes.into(), int(after.0).into()];
        let archived = Query::new(format!("SELECT p.base {archived}"), values.clone());
        values.push(int(limit as u64).into());
        let rows = self.select(Query::new(sql, values), decode::linked).await?;
        if rows.is_empty()
            && let Some(base) = self.select(archived, |line| decode::number(line, 0)).await?.first()
        {
            return Err(StoreError::Archived { deployment, base: Seq(*base) });
        }
        Ok(rows)
    }

    /// The target paths of the project from a number on, in order. Number 0 is the project itself.
    pub async fn targets(
        &self,
        project: &Name,
        from: TargetId,
        limit: usize,
    ) -> Result<Vec<StoredTarget>, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT id, parent, part, place, since, path FROM target
             WHERE project = ?1 AND id >= ?2 ORDER BY id LIMIT ?3",
            vec![id.into(), i64::from(from.0).into(), int(limit as u64).into()],
        );
        self.select(query, decode::target).await
    }

    /// The number of a version that was deployed before.
    pub async fn revision(
        &self,
        project: &Name,
        service: &Name,
        version: &str,
    ) -> Result<Option<Revision>, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT revision FROM deployment
             WHERE project = ?1 AND service = ?2 AND version = ?3 LIMIT 1",
            vec![id.into(), service.as_str().into(), version.into()],
        );
        let found = self.select(query, |line| decode::number(line, 0)).await?;
        Ok(found.first().copied().map(Revision))
    }

    /// How a deployment began.
    pub async fn deployment(
        &self,
        project: &Name,
        deployment: DeploymentId,
    ) -> Result<Option<DeploymentStart>, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT id, service, version, revision, seq FROM deployment
             WHERE project = ?1 AND id = ?2",
            vec![id.into(), deployment.0.as_bytes().as_slice().into()],
        );
        Ok(self.select(query, decode::start).await?.pop())
    }

    /// What must be known before a deployment starts: whether its id is taken, the number of its
    /// version if that was deployed before, and what is kept under the key of the request.
    pub async fn precedents(
        &self,
        project: &Name,
        deployment: DeploymentId,
        service: &Name,
        version: &str,
        key: Option<&Digest>,
    ) -> Result<Precedents, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT (SELECT seq FROM deployment WHERE project = ?1 AND id = ?2),
               (SELECT revision FROM deployment
                WHERE project = ?1 AND service = ?3 AND version = ?4 LIMIT 1),
               a.key, a.at, a.deployment, a.revision
             FROM (SELECT 1) one LEFT JOIN answer a ON a.project = ?1 AND a.key = ?5",
            vec![
                id.into(),
                deployment.0.as_bytes().as_slice().into(),
                service.as_str().into(),
                version.into(),
                key.map(|key| key.0.as_slice()).into(),
            ],
        );
        let found = self.select(query, decode::precedents).await?.pop();
        found.ok_or_else(|| {
            StoreError::Corrupt("a question that always has one answer has none".into())
        })
    }

    /// The last record that was written at or before a time; 0 when there was none yet, and the
    /// last that was archived for all times before it. Times never go back within a log, so that
    /// halving it finds the record.
    pub async fn seq_at(&self, project: &Name, at: Timestamp) -> Result<Seq, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "WITH RECURSIVE half (low, high) AS (
               SELECT base, head FROM project WHERE id = ?1
               UNION ALL
               SELECT CASE WHEN r.at <= ?2 THEN r.seq ELSE low END,
                      CASE WHEN r.at <= ?2 THEN high ELSE r.seq - 1 END
               FROM half JOIN record r ON r.project = ?1 AND r.seq = (low + high + 1) / 2
               WHERE low < high)
             SELECT low FROM half WHERE low >= high",
            vec![id.into(), at.0.into()],
        );
        let found = self.select(query, |line| decode::number(line, 0)).await?;
        let damaged = || StoreError::Corrupt("the log has a gap".into());
        found.first().copied().map(Seq).ok_or_else(damaged)
    }

    /// How much there is.
    pub async fn stats(&self, project: &Name) -> Result<Stats, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT p.head - p.base, p.at,
               (SELECT r.at FROM record r WHERE r.project = p.id AND r.seq = p.base + 1),
               (SELECT count(*) FROM deployment d WHERE d.project = p.id),
               (SELECT max(t.id) + 1 FROM target t WHERE t.project = p.id)
             FROM project p WHERE p.id = ?1",
            vec![id.into()],
        );
        let bytes = self.select(self.size_query(), decode::first_int).await?;
        let mut stats = self.select(query, stats).await?;
        let mut stats = stats.pop().ok_or_else(|| StoreError::UnknownProject(project.clone()))?;
        stats.bytes = bytes.first().map_or(0, |bytes| bytes.unsigned_abs());
        Ok(stats)
    }
}

fn stats(line: &dyn Columns) -> Result<Stats, Damaged> {
    let first = line.maybe_int(2)?.map(Timestamp);
    let last = Timestamp(decode::int(line, 1)?);
    Ok(Stats {
        records: decode::number(line, 0)?,
        deployments: decode::number(line, 3)?,
        targets: decode::number(line, 4)?,
        bytes: 0,
        times: first.map(|first| (first, last)),
    })
}
