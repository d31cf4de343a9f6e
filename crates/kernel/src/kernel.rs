use seaway_model::{
    DeploymentId, Digest, Fence, Name, Seq, TargetDef, TargetError, TargetTable, Timestamp,
};

use crate::{Actor, Command, Effect, Record, Refusal, Reply, Step};

/// One project: everything that its log adds up to.
#[derive(Debug)]
pub struct Kernel {
    targets: TargetTable,
}

/// Whether a tick left work for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Pace {
    /// Nothing more to do until a command, an observation or the next wake-up.
    Idle,
    /// The limit was reached; tick again at once.
    More,
}

/// A record that cannot follow the ones before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalRecord {
    #[error("record {found} cannot follow {}", expected.0 - 1)]
    OutOfOrder { expected: Seq, found: Seq },
    #[error("record {seq} is about a deployment that is not in memory")]
    UnknownDeployment { seq: Seq },
    #[error("record {seq} is about a target or step that does not exist")]
    UnknownStep { seq: Seq },
    #[error("record {seq} changes the structure in a way that is not allowed")]
    Structure { seq: Seq },
    #[error("record {seq} lacks what its kind needs")]
    Incomplete { seq: Seq },
}

#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("the checkpoint was written by another version")]
    Version,
    #[error("the checkpoint is damaged")]
    Damaged,
}

impl Kernel {
    pub fn new(project: &Name) -> Self {
        Self { targets: TargetTable::new(project.as_str()) }
    }
    pub fn targets(&self) -> &TargetTable {
        &self.targets
    }
    pub fn define_target(&mut self, _def: &TargetDef) -> Result<(), TargetError> {
        todo!()
    }
    /// Position of the last record that was applied.
    pub fn head(&self) -> Seq {
        todo!()
    }
    /// Time of the last record that was applied.
    pub fn time(&self) -> Timestamp {
        todo!()
    }
    /// Carries a command out: appends its records to `out`, each applied already. When it is refused nothing changed.
    pub fn decide(
        &mut self,
        _command: &Command,
        _now: Timestamp,
        _by: &Actor,
        _out: &mut Vec<Record>,
    ) -> Result<Reply, Refusal> {
        todo!()
    }
    /// Expires leases and dispatches what is doable: at most about `limit` records, each applied already.
    pub fn tick(&mut self, _now: Timestamp, _limit: usize, _out: &mut Vec<Record>) -> Pace {
        todo!()
    }
    /// Folds one record (replay).
    pub fn apply(&mut self, _record: &Record) -> Result<(), IllegalRecord> {
        todo!()
    }
    /// What a record, once durable, means for the outside.
    pub fn effect(&self, _record: &Record) -> Option<Effect> {
        todo!()
    }
    /// A holder says that it is alive. Not a record, not part of the hashed state.
    pub fn renew(&mut self, _step: Step, _fence: Fence, _now: Timestamp) -> Result<(), Refusal> {
        todo!()
    }
    /// After a start or takeover every open lease counts as renewed now.
    pub fn renew_all(&mut self, _now: Timestamp) {
        todo!()
    }
    /// When `tick` has something to do by itself (an open lease runs out).
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        todo!()
    }
    /// The service of a deployment that is in memory (also one that has just ended, until `sweep`).
    pub fn service(&self, _deployment: DeploymentId) -> Option<&Name> {
        todo!()
    }
    /// Deployments that ended leave memory. Called after each durable batch and during replay.
    pub fn sweep(&mut self) {
        todo!()
    }
    /// In replay: the deployment whose earlier records must be revived before this record can be applied.
    pub fn absent(&self, _record: &Record) -> Option<DeploymentId> {
        todo!()
    }
    /// Brings a deployment that left memory as failed back, from all its records in order.
    pub fn revive(&mut self, _records: &[Record]) -> Result<(), IllegalRecord> {
        todo!()
    }
    /// Digest of the state; equal live, replayed and after a checkpoint.
    pub fn digest(&self) -> Digest {
        todo!()
    }
    pub fn checkpoint(&self) -> Vec<u8> {
        todo!()
    }
    pub fn restore(_project: &Name, _bytes: &[u8]) -> Result<Self, CheckpointError> {
        todo!()
    }
}
