use seaway_model::{DeploymentId, Name, Seq, TargetId, TargetTable};

use crate::decode::{self, Damaged, ROW};
use crate::deployments::{self, DeploymentStanding};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, Value, int};
use crate::question::Listed;
use crate::store::Store;

/// How many paths one statement asks for. It is always the same statement: what is missing at the
/// end repeats the last one.
const AT_ONCE: usize = 32;

impl Store {
    /// The records of one deployment after a position, in order, with the paths of their targets.
    pub async fn deployment_records(
        &self,
        project: &Name,
        deployment: DeploymentId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let id = self.project_id(project).await?;
        // Positions come from the index of the deployment first, so that nothing else is read.
        let sql = format!(
            "SELECT {ROW}, t.path FROM record r
             JOIN target t ON t.project = r.project AND t.id = r.target
             WHERE r.project = ?1 AND r.seq IN
               (SELECT seq FROM record WHERE project = ?1 AND deployment = ?2 AND +seq > ?3
                ORDER BY +seq LIMIT ?4)
             ORDER BY r.seq"
        );
        let deployment = deployment.0.as_bytes().as_slice().into();
        let values = vec![id.into(), deployment, int(after.0).into(), int(limit as u64).into()];
        self.select(Query::new(sql, values), decode::listed).await
    }

    /// How a deployment began and where it has got to.
    pub async fn deployment_standing(
        &self,
        project: &Name,
        deployment: DeploymentId,
    ) -> Result<Option<DeploymentStanding>, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT d.id, d.service, d.version, d.revision, d.seq, s.ending, s.closed
             FROM deployment d LEFT JOIN span s ON s.project = d.project AND s.place = ?3
               AND s.deployment = d.id
             WHERE d.project = ?1 AND d.id = ?2 ORDER BY s.opened DESC LIMIT 1",
            vec![
                id.into(),
                deployment.0.as_bytes().as_slice().into(),
                i64::from(TargetTable::ROOT.0).into(),
            ],
        );
        Ok(self.select(query, deployments::standing).await?.pop())
    }

    /// The paths of those of the targets that there are, in any order.
    pub async fn paths(
        &self,
        project: &Name,
        targets: &[TargetId],
    ) -> Result<Vec<(TargetId, Box<str>)>, StoreError> {
        let id = self.project_id(project).await?;
        let numbers: Vec<String> = (2..AT_ONCE + 2).map(|number| format!("?{number}")).collect();
        let sql = format!(
            "SELECT id, path FROM target WHERE project = ?1 AND id IN ({})",
            numbers.join(", ")
        );
        let mut found = Vec::with_capacity(targets.len());
        for chunk in targets.chunks(AT_ONCE) {
            let mut values: Vec<Value> = vec![id.into()];
            let repeated = chunk.iter().chain(std::iter::repeat(&chunk[chunk.len() - 1]));
            values.extend(repeated.take(AT_ONCE).map(|target| i64::from(target.0).into()));
            found.extend(self.select(Query::new(sql.clone(), values), path).await?);
        }
        Ok(found)
    }
}

fn path(line: &dyn Columns) -> Result<(TargetId, Box<str>), Damaged> {
    Ok((TargetId(decode::number(line, 0)?), decode::text(line, 1)?.into()))
}
