use seaway_kernel::{CheckpointError, Kernel};
use seaway_model::planted::{Bug, planted};
use seaway_model::{Digest, Name, Seq, TargetDef};
use seaway_store::Checkpoint;
use seaway_wire::ChainCheck;

use super::{LoadError, Replay, envelope};

/// Why a checkpoint cannot be used. Set it aside, report it, and load from the start of the log.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointRejected {
    #[error("the checkpoint at record {seq} is damaged")]
    Damaged { seq: Seq },
    #[error("the checkpoint at record {seq} cannot be read")]
    Unreadable {
        seq: Seq,
        #[source]
        source: CheckpointError,
    },
    #[error("the checkpoint at record {seq} adds up to state {found}, but {expected} was written")]
    Disagrees { seq: Seq, expected: Digest, found: Digest },
    #[error("the checkpoint at record {seq} is not of this log, which ends at record {end}")]
    OtherLog { seq: Seq, end: Seq },
}

/// The first half of loading a project: its targets. [`Replay`] is the second.
#[derive(Debug)]
pub struct Loader {
    project: Name,
    kernel: Kernel,
    start: ChainCheck,
    end: ChainCheck,
    state: Option<Digest>,
}

impl Loader {
    /// Loads from the first record. `end` is where the log ends, read after ownership was taken;
    /// define every target that the store has next.
    #[must_use]
    pub fn from_start(project: &Name, end: ChainCheck) -> Self {
        Self {
            project: project.clone(),
            kernel: Kernel::new(project),
            start: ChainCheck::from_genesis(),
            end,
            state: None,
        }
    }

    /// Loads what the checkpoint holds; only the records behind it are read and checked.
    pub fn from_checkpoint(
        project: &Name,
        end: ChainCheck,
        checkpoint: &Checkpoint,
    ) -> Result<Self, CheckpointRejected> {
        let seq = checkpoint.seq;
        let start = ChainCheck { seq, hash: checkpoint.hash };
        if seq > end.seq || (seq == end.seq && checkpoint.hash != end.hash) {
            return Err(CheckpointRejected::OtherLog { seq, end: end.seq });
        }
        let bytes = envelope::open(&checkpoint.bytes).ok_or(CheckpointRejected::Damaged { seq })?;
        let kernel = Kernel::restore(project, bytes)
            .map_err(|source| CheckpointRejected::Unreadable { seq, source })?;
        Ok(Self {
            project: project.clone(),
            kernel,
            start,
            end,
            state: Some(checkpoint.state_digest),
        })
    }

    /// Takes over the next target; they come in order, from any one that is not beyond the next.
    pub fn define(&mut self, target: &TargetDef) -> Result<(), LoadError> {
        let table = self.kernel.targets();
        if let Some(node) = table.try_get(target.id)
            && (node.parent != target.parent || table.part(node.part) != &*target.part)
        {
            return Err(LoadError::OtherTarget { target: target.id });
        }
        Ok(self.kernel.define_target(target)?)
    }

    /// All targets are defined: the records are next.
    pub fn replay(self) -> Result<Replay, CheckpointRejected> {
        if let Some(expected) = self.state {
            let seq = self.start.seq;
            let found = self.kernel.digest();
            let differs = found != expected && !planted(Bug::CheckpointUnverified);
            if differs || self.kernel.head() != seq {
                return Err(CheckpointRejected::Disagrees { seq, expected, found });
            }
        }
        Ok(Replay::new(self.project, self.kernel, self.start, self.end))
    }
}
