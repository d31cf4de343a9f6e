use seaway_model::{DeploymentId, Name, Seq, TargetTable};
use seaway_wire::DeploymentStart;

use crate::decode::{self, Damaged};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, Value, int};
use crate::question::{Ended, Page};
use crate::store::Store;

/// How a deployment began and where it has got to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentStanding {
    pub start: DeploymentStart,
    /// `None` while it is in progress, and again when it was retried after its end.
    pub ended: Option<Ended>,
}

impl Store {
    /// The project that a deployment belongs to. Every project is asked once, by its key.
    pub async fn find_deployment(
        &self,
        deployment: DeploymentId,
    ) -> Result<Option<Name>, StoreError> {
        let query = Query::new(
            "SELECT p.name FROM project p WHERE
               (SELECT d.seq FROM deployment d WHERE d.project = p.id AND d.id = ?1) IS NOT NULL
             ORDER BY p.id LIMIT 1",
            vec![deployment.0.as_bytes().as_slice().into()],
        );
        Ok(self.select(query, decode::first_name).await?.pop())
    }

    /// The deployments of a project, or of one of its services, newest first; `cursor` is the
    /// `next` of the page before.
    pub async fn deployments(
        &self,
        project: &Name,
        service: Option<&Name>,
        cursor: Option<Seq>,
        limit: usize,
    ) -> Result<Page<DeploymentStanding>, StoreError> {
        let id = self.project_id(project).await?;
        let before = cursor.map_or(i64::MAX, |cursor| int(cursor.0));
        let root = i64::from(TargetTable::ROOT.0);
        let mut values: Vec<Value> =
            vec![id.into(), before.into(), int(limit as u64).into(), root.into()];
        let only = match service {
            Some(service) => {
                values.push(service.as_str().into());
                "AND d.service = ?5"
            }
            None => "",
        };
        // A deployment that was retried has several spans, of which the last one counts.
        let sql = format!(
            "SELECT d.id, d.service, d.version, d.revision, d.seq, s.ending, s.closed
             FROM deployment d LEFT JOIN span s ON s.project = d.project AND s.place = ?4
               AND s.deployment = d.id AND s.opened =
               (SELECT max(l.opened) FROM span l WHERE l.project = d.project AND l.place = ?4
                AND l.deployment = d.id)
             WHERE d.project = ?1 AND d.seq < ?2 {only} ORDER BY d.seq DESC LIMIT ?3"
        );
        let items = self.select(Query::new(sql, values), standing).await?;
        let next = items.last().filter(|_| items.len() == limit).map(|last| last.start.seq);
        Ok(Page { items, next })
    }

    /// The services that were ever deployed and whose names come after `after`, in order of their
    /// names. It goes from one service to the next, whatever number of deployments each has.
    pub async fn services(
        &self,
        project: &Name,
        after: Option<&Name>,
        limit: usize,
    ) -> Result<Vec<Name>, StoreError> {
        let id = self.project_id(project).await?;
        let next = |after: &str| {
            format!(
                "(SELECT min(service) FROM deployment WHERE project = ?1 AND service > {after})"
            )
        };
        let sql = format!(
            "WITH RECURSIVE known (service) AS (
               SELECT {} UNION ALL
               SELECT {} FROM known WHERE known.service IS NOT NULL)
             SELECT service FROM known WHERE service IS NOT NULL LIMIT ?3",
            next("?2"),
            next("known.service"),
        );
        let after = after.map_or("", Name::as_str);
        let values = vec![id.into(), after.into(), int(limit as u64).into()];
        self.select(Query::new(sql, values), decode::first_name).await
    }

    /// Where the oldest deployment began that is in progress.
    pub async fn first_open(&self, project: &Name) -> Result<Option<Seq>, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT min(d.seq) FROM span s
             JOIN deployment d ON d.project = s.project AND d.id = s.deployment
             WHERE s.project = ?1 AND s.place = ?2 AND s.ending IS NULL AND s.closed IS NULL",
            vec![id.into(), i64::from(TargetTable::ROOT.0).into()],
        );
        let found = self.select(query, |line| decode::maybe_number(line, 0)).await?;
        Ok(found.first().copied().flatten().map(Seq))
    }
}

pub(crate) fn standing(line: &dyn Columns) -> Result<DeploymentStanding, Damaged> {
    Ok(DeploymentStanding { start: decode::start(line)?, ended: decode::ended(line, 5)? })
}
