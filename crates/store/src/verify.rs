use seaway_model::{Name, Seq, TargetId, TargetTable};
use seaway_wire::{ChainCheck, StoredTarget};

use crate::error::{StoreError, VerifyError};
use crate::question::Verified;
use crate::store::Store;

/// Rows and targets that are in memory at one time.
const PAGE: usize = 4_096;

impl Store {
    /// Reads the whole log, from where its archive ends, and checks that it is what was written:
    /// every record against its hash and its predecessor, every stored path against the tree of
    /// targets, and the last record against the project's head. `progress` is told the position
    /// that has been reached. Last the database is asked whether its own files are sound, where it
    /// can tell.
    ///
    /// Records that are appended while this runs are not looked at, nor those that are archived.
    pub async fn verify(
        &self,
        project: &Name,
        mut progress: impl FnMut(Seq) + Send,
    ) -> Result<Verified, VerifyError> {
        let mut chain = self.archived(project).await?;
        let mut head = self.head(project).await?;
        let targets = self.verified_targets(project).await?;
        let mut records = 0;
        while chain.seq < head.seq {
            let rows = self.rows(project, chain.seq, PAGE).await?;
            let follows = rows.first().is_some_and(|row| row.seq == chain.seq.next());
            if !follows && self.skip_archived(project, &mut chain, head.seq).await? {
                continue;
            }
            if rows.is_empty() {
                return Err(VerifyError::Truncated { expected: head.seq, found: chain.seq });
            }
            for row in rows.iter().take_while(|row| row.seq <= head.seq) {
                let known = targets.try_get(row.target).is_some();
                if !known {
                    let (seq, target) = (row.seq, row.target);
                    return Err(VerifyError::UnknownTarget { seq, target });
                }
                chain.check(row, &targets.path(row.target))?;
                // The project's own note of it is not covered by a hash.
                head.at = row.at;
                records += 1;
            }
            // A gap at the end of the log is a row beyond the head after the last one before it.
            if rows.first().is_some_and(|row| row.seq > head.seq) {
                return Err(VerifyError::Truncated { expected: head.seq, found: chain.seq });
            }
            progress(chain.seq);
        }
        if chain.hash != head.hash {
            return Err(VerifyError::Head);
        }
        match self.findings().await {
            Ok(findings) if findings.is_empty() => {}
            Ok(findings) => return Err(VerifyError::Elsewhere(findings.join("; "))),
            // Some damage keeps even the search for damage from going on.
            Err(StoreError::Corrupt(cause)) => {
                return Err(VerifyError::Elsewhere(cause.to_string()));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(Verified { records, head })
    }

    /// Goes on behind what was archived while the log was read, and says whether there was any.
    async fn skip_archived(
        &self,
        project: &Name,
        chain: &mut ChainCheck,
        end: Seq,
    ) -> Result<bool, StoreError> {
        let archived = self.archived(project).await?;
        let skips = archived.seq > chain.seq && archived.seq <= end;
        if skips {
            *chain = archived;
        }
        Ok(skips)
    }

    async fn verified_targets(&self, project: &Name) -> Result<TargetTable, VerifyError> {
        let mut table = TargetTable::new(project.as_str());
        let mut from = TargetId(0);
        loop {
            let page = self.targets(project, from, PAGE).await?;
            let Some(last) = page.last() else { return Ok(table) };
            from = last.def.id.next();
            for target in &page {
                table.define(&target.def)?;
                if table.try_get(target.def.id).is_none() {
                    // The tree knows the same path under another number.
                    let id = target.def.id;
                    return Err(VerifyError::DoubleTarget { id, path: target.path.clone() });
                }
                verify_target(&table, target)?;
            }
        }
    }
}

fn verify_target(table: &TargetTable, stored: &StoredTarget) -> Result<(), VerifyError> {
    let id = stored.def.id;
    let expected = table.path(id).to_string();
    if *stored.path != *expected {
        return Err(VerifyError::Path { id, expected, found: stored.path.clone() });
    }
    let (expected, found) = (table.get(id).place, stored.def.place);
    if found != expected {
        return Err(VerifyError::Place { id, expected, found });
    }
    Ok(())
}
