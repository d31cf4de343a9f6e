use std::fmt::Display;
use std::sync::Arc;

use seaway_kernel::{Actor, Detail, Record};
use seaway_model::planted::{Bug, planted};
use seaway_model::{
    Attempt, DeploymentId, Digest, Fact, Kind, Outcome, Revision, Seq, TargetId, Timestamp,
};

use crate::chain;

/// A record as it is stored: plain columns, its detail as JSON text, and its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub seq: Seq,
    pub at: Timestamp,
    pub deployment: Option<DeploymentId>,
    pub target: TargetId,
    pub revision: Option<Revision>,
    pub kind: Kind,
    pub fact: Fact,
    pub attempt: Attempt,
    pub n: u32,
    pub outcome: Option<Outcome>,
    pub data: Option<Box<str>>,
    pub cause: Option<Seq>,
    pub by: Arc<str>,
    pub hash: Digest,
}

#[derive(Debug, thiserror::Error)]
#[error("the data of record {seq} cannot be read; it was written by a newer version or damaged")]
pub struct RowError {
    pub seq: Seq,
    #[source]
    source: serde_json::Error,
}

impl Row {
    /// Turns a record into its stored form, chained to the record before it. `path` is the text of
    /// the record's target: the hash covers it, so that renaming a target breaks the chain.
    #[must_use]
    pub fn seal(record: &Record, path: &dyn Display, previous: Digest) -> Self {
        let data = record.detail.as_deref().map(|detail| {
            serde_json::to_string(detail)
                .expect("details have only string keys and finite numbers")
                .into_boxed_str()
        });
        let by = match &record.by {
            Actor::Seaway => chain::seaway(),
            Actor::Named(name) => name.clone(),
        };
        let mut row = Self {
            seq: record.seq,
            at: record.at,
            deployment: record.deployment,
            target: record.target,
            revision: record.revision,
            kind: record.kind,
            fact: record.fact,
            attempt: record.attempt,
            n: record.n,
            outcome: record.outcome,
            data,
            cause: record.cause,
            by,
            hash: Digest::GENESIS,
        };
        let previous = if planted(Bug::HashUnchained) { Digest::GENESIS } else { previous };
        row.hash = chain::hash(&row, path, previous);
        row
    }

    /// The hash that this row ought to have.
    #[must_use]
    pub fn expected_hash(&self, path: &dyn Display, previous: Digest) -> Digest {
        chain::hash(self, path, previous)
    }

    /// The record that the kernel folds.
    pub fn open(&self) -> Result<Record, RowError> {
        let detail = match &self.data {
            Some(text) => {
                let parsed: Result<Detail, _> = serde_json::from_str(text);
                Some(Box::new(parsed.map_err(|source| RowError { seq: self.seq, source })?))
            }
            None => None,
        };
        let by = match &*self.by {
            "seaway" => Actor::Seaway,
            _ => Actor::Named(self.by.clone()),
        };
        Ok(Record {
            seq: self.seq,
            at: self.at,
            deployment: self.deployment,
            target: self.target,
            revision: self.revision,
            kind: self.kind,
            fact: self.fact,
            attempt: self.attempt,
            n: self.n,
            outcome: self.outcome,
            detail,
            cause: self.cause,
            by,
        })
    }
}
