use seaway_kernel::{Detail, Record};
use seaway_model::{DeploymentId, Digest, Epoch, Kind, Name, Revision, Seq, TargetDef};

use crate::{Row, SpanEdit};

/// Everything that becomes durable together for one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    pub project: Name,
    /// The ownership under which it is written; the store refuses an older one.
    pub epoch: Epoch,
    /// Never empty; positions follow the log's last one without a gap.
    pub rows: Vec<Row>,
    pub targets: Vec<StoredTarget>,
    pub spans: Vec<SpanEdit>,
    pub starts: Vec<DeploymentStart>,
    /// What requests that carry a key of their own were answered with.
    pub answers: Vec<KeptAnswer>,
}

/// A target with its path spelled out, so that people can query it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTarget {
    pub def: TargetDef,
    pub path: Box<str>,
}

/// A deployment that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentStart {
    pub deployment: DeploymentId,
    pub service: Name,
    pub version: Box<str>,
    pub revision: Revision,
    pub seq: Seq,
}

/// What a request was answered with, kept under its key: the same request again gets this answer
/// and has no second effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// Unique within the project.
    pub key: Digest,
    /// The position at which the request was done.
    pub at: Seq,
    pub deployment: Option<DeploymentId>,
    pub revision: Option<Revision>,
}

impl DeploymentStart {
    /// What a record says about a deployment that begins with it.
    #[must_use]
    pub fn of(record: &Record) -> Option<Self> {
        match (record.kind, record.detail.as_deref()) {
            (Kind::PipelineStarted, Some(Detail::Deploys { service, version })) => Some(Self {
                deployment: record.deployment?,
                service: service.clone(),
                version: version.clone(),
                revision: record.revision?,
                seq: record.seq,
            }),
            _ => None,
        }
    }
}
