use std::collections::BTreeMap;

use seaway_kernel::{Actor, Detail, Record};
use seaway_model::{
    Attempt, DeploymentId, Digest, Fact, Kind, Outcome, Revision, Seq, TargetId, Timestamp,
};
use seaway_store::Listed;
use seaway_wire::Row;
use uuid::Uuid;

/// Records of one deployment, written by hand.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) records: Vec<Listed>,
    targets: BTreeMap<String, TargetId>,
}

impl Log {
    pub(crate) fn add(&mut self, path: &str, kind: Kind, fact: Fact) {
        self.put(path, kind, fact, |_| {});
    }

    /// A second passes with each record.
    pub(crate) fn put(
        &mut self,
        path: &str,
        kind: Kind,
        fact: Fact,
        with: impl FnOnce(&mut Record),
    ) {
        let next = TargetId(self.targets.len() as u32 + 1);
        let target = *self.targets.entry(path.to_owned()).or_insert(next);
        let seq = Seq(self.records.len() as u64 + 1);
        let mut record = Record {
            seq,
            at: Timestamp(seq.0 as i64 * 1_000_000),
            deployment: Some(DeploymentId(Uuid::from_u128(7))),
            target,
            revision: Some(Revision(3)),
            kind,
            fact,
            attempt: Attempt(1),
            n: 0,
            outcome: match fact {
                Fact::Finished => Some(Outcome::Pass),
                Fact::Failed => Some(Outcome::Fail),
                _ => None,
            },
            detail: None,
            cause: None,
            by: Actor::Seaway,
        };
        with(&mut record);
        let row = Row::seal(&record, &path, Digest::GENESIS);
        self.records.push(Listed { row, path: path.into() });
    }

    /// With something that is said beyond the columns.
    pub(crate) fn say(&mut self, path: &str, kind: Kind, fact: Fact, detail: Detail) {
        self.put(path, kind, fact, |record| record.detail = Some(Box::new(detail)));
    }
}
