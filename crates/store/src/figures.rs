use seaway_model::TargetTable;

use crate::decode::{self, Damaged};
use crate::error::StoreError;
use crate::log_store::{Columns, Query};
use crate::store::Store;

/// How much there is of everything, whichever project it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    pub projects: u64,
    /// Deployments in progress.
    pub in_progress: u64,
    /// Size of the whole store.
    pub bytes: u64,
}

impl Store {
    /// Counts what is in progress, and what the store takes up. It looks at each project once and
    /// at each deployment in progress, not at those that ended.
    pub async fn figures(&self) -> Result<Figures, StoreError> {
        let query = Query::new(
            "SELECT (SELECT count(*) FROM project),
               (SELECT count(*) FROM project p CROSS JOIN span s
                WHERE s.project = p.id AND s.place = ?1 AND s.ending IS NULL AND s.closed IS NULL)",
            vec![i64::from(TargetTable::ROOT.0).into()],
        );
        let counts = self.select(query, counts).await?;
        let bytes = self.select(self.size_query(), decode::first_int).await?;
        let (projects, in_progress) = counts.first().copied().unwrap_or_default();
        let bytes = bytes.first().map_or(0, |bytes| bytes.unsigned_abs());
        Ok(Figures { projects, in_progress, bytes })
    }
}

fn counts(line: &dyn Columns) -> Result<(u64, u64), Damaged> {
    Ok((decode::number(line, 0)?, decode::number(line, 1)?))
}
