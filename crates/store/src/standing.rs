use seaway_model::{Fact, Name, Seq};

use crate::decode;
use crate::error::StoreError;
use crate::log_store::{Query, Value, int};
use crate::question::{Ending, Page, Standing};
use crate::shape::place_path;
use crate::store::Store;

const PLACE: &str = "(SELECT id FROM target WHERE project = ?1 AND place_path = ?2)";
const VERSION: &str = "LEFT JOIN deployment d ON d.project = s.project AND d.id = s.deployment";

/// Every question is about a place, given as a path with or without a run number; about one service
/// or all that are deployed there; and as of a position, or now.
impl Store {
    /// The span with the highest revision that ended this way at the place. Among several of one
    /// revision it is the last one.
    ///
    /// Each closed span names the best one so far of its ending, so that this looks at two entries
    /// of an index, however long ago `as_of` is.
    pub async fn latest(
        &self,
        project: &Name,
        place: &str,
        service: Option<&Name>,
        ending: Ending,
        as_of: Option<Seq>,
    ) -> Result<Option<Standing>, StoreError> {
        let mut values = self.place(project, place, as_of).await?;
        values.push(i64::from(ending.fact().code()).into());
        let (best, only) = match service {
            Some(service) => {
                values.push(service.as_str().into());
                ("best_of_service", "AND service = ?5")
            }
            None => ("best", ""),
        };
        let sql = format!(
            "SELECT s.deployment, s.revision, s.service, d.version, s.opened, s.ending, s.closed
             FROM span s {VERSION}
             WHERE s.project = ?1 AND s.place = {PLACE} AND s.ending = ?4 AND s.closed =
               (SELECT {best} FROM span WHERE project = ?1 AND place = {PLACE} AND ending = ?4
                {only} AND closed <= ?3 ORDER BY closed DESC LIMIT 1)"
        );
        Ok(self.select(Query::new(sql, values), decode::standing).await?.pop())
    }

    /// What is there: the last span at the place, in log order, that ended finished or rolled back.
    pub async fn now_at(
        &self,
        project: &Name,
        place: &str,
        service: Option<&Name>,
        as_of: Option<Seq>,
    ) -> Result<Option<Standing>, StoreError> {
        let mut values = self.place(project, place, as_of).await?;
        let only = match service {
            Some(service) => {
                values.push(service.as_str().into());
                "AND service = ?4"
            }
            None => "",
        };
        let last = |ending: Fact| {
            format!(
                "SELECT max(closed) AS closed FROM span WHERE project = ?1 AND place = {PLACE}
                 AND ending = {} {only} AND closed <= ?3",
                ending.code()
            )
        };
        let (finished, rolled_back) = (last(Fact::Finished), last(Fact::RolledBack));
        let sql = format!(
            "SELECT s.deployment, s.revision, s.service, d.version, s.opened, s.ending, s.closed
             FROM span s {VERSION}
             WHERE s.project = ?1 AND s.place = {PLACE} AND s.ending IN ({}, {}) AND s.closed =
               (SELECT max(closed) FROM ({finished} UNION ALL {rolled_back}) e)",
            Fact::Finished.code(),
            Fact::RolledBack.code(),
        );
        Ok(self.select(Query::new(sql, values), decode::standing).await?.pop())
    }

    /// The spans at the place that have not ended, in the order in which they were opened; `cursor`
    /// is the `next` of the page before. As of a position this looks at what ended there since.
    pub async fn in_progress(
        &self,
        project: &Name,
        place: &str,
        service: Option<&Name>,
        as_of: Option<Seq>,
        cursor: Option<Seq>,
        limit: usize,
    ) -> Result<Page<Standing>, StoreError> {
        let mut values = self.place(project, place, as_of).await?;
        values.push(int(cursor.unwrap_or_default().0).into());
        values.push(int(limit as u64).into());
        let only = match service {
            Some(service) => {
                values.push(service.as_str().into());
                "AND service = ?6"
            }
            None => "",
        };
        let at = "SELECT project, deployment, revision, service, opened FROM span
                  WHERE project = ?1 AND place = ";
        let within = format!("{only} AND opened > ?4 AND opened <= ?3");
        let open = format!("{at} {PLACE} AND ending IS NULL AND closed IS NULL {within}");
        let since = match as_of {
            Some(_) => format!(
                "UNION ALL {at} {PLACE} AND ending IN ({}) AND closed > ?3 {within}",
                endings()
            ),
            None => String::new(),
        };
        let sql = format!(
            "SELECT s.deployment, s.revision, s.service, d.version, s.opened,
               CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)
             FROM ({open} {since}) s {VERSION} ORDER BY s.opened LIMIT ?5"
        );
        let items = self.select(Query::new(sql, values), decode::standing).await?;
        let next = items.last().filter(|_| items.len() == limit).map(|last| last.opened);
        Ok(Page { items, next })
    }

    async fn place(
        &self,
        project: &Name,
        place: &str,
        as_of: Option<Seq>,
    ) -> Result<Vec<Value>, StoreError> {
        let id = self.project_id(project).await?;
        let as_of = as_of.map_or(i64::MAX, |seq| int(seq.0));
        Ok(vec![id.into(), (&*place_path(place)).into(), as_of.into()])
    }
}

/// Everything that a span can end with, so that the index over endings can be used for all of them.
fn endings() -> String {
    let codes: Vec<String> = Fact::ALL.iter().map(|fact| fact.code().to_string()).collect();
    codes.join(", ")
}
