use seaway_model::{Attempt, DeploymentId, Digest, Fact, Kind, Outcome, Revision, Seq};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Row;

/// A record as machines read it: stable JSON, with texts instead of numbers.
#[derive(Debug, Serialize)]
pub struct ShownRecord<'a> {
    pub seq: Seq,
    /// RFC 3339, in UTC.
    pub at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment: Option<DeploymentId>,
    pub target: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    pub kind: Kind,
    pub fact: Fact,
    pub attempt: Attempt,
    pub n: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Seq>,
    pub by: &'a str,
    pub hash: String,
}

impl<'a> ShownRecord<'a> {
    /// `at` is the record's time as text; formatting times is not this crate's business.
    #[must_use]
    pub fn new(row: &'a Row, path: &'a str, at: String) -> Self {
        let data = row.data.as_deref().map(serde_json::from_str::<&RawValue>);
        Self {
            seq: row.seq,
            at,
            deployment: row.deployment,
            target: path,
            revision: row.revision,
            kind: row.kind,
            fact: row.fact,
            attempt: row.attempt,
            n: row.n,
            outcome: row.outcome,
            data: data.and_then(Result::ok),
            cause: row.cause,
            by: &row.by,
            hash: hex(row.hash),
        }
    }
}

fn hex(digest: Digest) -> String {
    digest.to_string()
}
