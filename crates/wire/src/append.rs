use seaway_kernel::{Detail, Record};
use seaway_model::{DeploymentId, Epoch, Kind, Name, Revision, Seq, TargetDef};

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
