use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{Name, TargetId};
use seaway_store::{Store, StoreError};
use seaway_wire::Row;

/// The paths of targets, for somebody who reads record after record. They never change, so that
/// each is looked up once in a while only.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    known: BTreeMap<TargetId, Box<str>>,
}

/// Bounds the memory of one reader.
const MAX_KNOWN: usize = 4_096;

impl Paths {
    /// Makes sure that the paths of these records are known.
    pub(crate) async fn learn(
        &mut self,
        (store, project): (&Store, &Name),
        rows: &[Row],
    ) -> Result<(), StoreError> {
        if self.known.len() > MAX_KNOWN {
            self.known.clear();
        }
        let missing = rows.iter().map(|row| row.target).filter(|it| !self.known.contains_key(it));
        let missing: Vec<TargetId> = missing.collect::<BTreeSet<_>>().into_iter().collect();
        if !missing.is_empty() {
            self.known.extend(store.paths(project, &missing).await?);
        }
        Ok(())
    }

    /// The path of a target that was learned.
    pub(crate) fn of(&self, target: TargetId) -> &str {
        self.known.get(&target).map_or("", |path| path)
    }
}
