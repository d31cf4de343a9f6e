use std::vec;

use seaway_kernel::{IllegalRecord, Kernel, Record};
use seaway_model::{DeploymentId, Epoch, Name, Seq, TargetError, TargetId, TargetTable, Timestamp};
use seaway_store::Checkpoint;
use seaway_wire::{ChainBreak, ChainCheck, Linked, Row, RowError};

use super::batch::Sealer;
use super::{Limits, Writer, envelope};

/// Why a project cannot be loaded. Only this project stops; the others go on.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("the targets cannot be read; restore the database from a backup")]
    Target(#[from] TargetError),
    #[error("target {target} has another path than the log was folded with; restore a backup")]
    OtherTarget { target: TargetId },
    #[error("the log is damaged; restore the database from a backup")]
    Chain(#[from] ChainBreak),
    #[error("record {seq} is about target {target}, which does not exist; restore a backup")]
    UnknownTarget { seq: Seq, target: TargetId },
    #[error("the log cannot be read; start a version that is not older than the last writer")]
    Unreadable(#[from] RowError),
    #[error(
        "the log cannot be followed; report this as a bug, with the output of `seaway log verify`"
    )]
    Illegal(#[from] IllegalRecord),
    #[error(
        "the log ends at record {found}, but it was written up to {expected}; restore a backup"
    )]
    Truncated { expected: Seq, found: Seq },
}

/// What a replay needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The next records after this one, any number: call [`Replay::feed`].
    Rows { after: Seq },
    /// All records of a deployment before this one: call [`Replay::revive`].
    Deployment { deployment: DeploymentId, before: Seq },
    /// Nothing: it has reached the end of the log.
    Nothing,
}

/// The second half of loading a project: folding its records.
#[derive(Debug)]
pub struct Replay {
    project: Name,
    kernel: Kernel,
    chain: ChainCheck,
    end: ChainCheck,
    page: vec::IntoIter<Row>,
    /// A record that cannot be applied before a deployment was brought back.
    held: Option<(DeploymentId, Record)>,
    /// How many targets came from the store.
    targets: usize,
}

impl Replay {
    pub(super) fn new(project: Name, kernel: Kernel, start: ChainCheck, end: ChainCheck) -> Self {
        let targets = kernel.targets().len();
        let page = Vec::new().into_iter();
        Self { project, kernel, chain: start, end, page, held: None, targets }
    }

    #[must_use]
    pub fn need(&self) -> Need {
        match &self.held {
            Some((deployment, record)) => {
                Need::Deployment { deployment: *deployment, before: record.seq }
            }
            None if self.chain.seq < self.end.seq => Need::Rows { after: self.chain.seq },
            None => Need::Nothing,
        }
    }

    /// The next records, in order. Rows behind the end, written meanwhile, are left out.
    pub fn feed(&mut self, rows: Vec<Row>) -> Result<(), LoadError> {
        if rows.is_empty() {
            return Err(LoadError::Truncated { expected: self.end.seq, found: self.chain.seq });
        }
        self.page = rows.into_iter();
        self.fold()
    }

    /// The earlier records of the deployment that was asked for, in order.
    pub fn revive(&mut self, rows: &[Linked]) -> Result<(), LoadError> {
        let (_, held) = self.held.take().expect("a replay is given only what it asked for");
        let targets = self.kernel.targets();
        let records: Vec<_> =
            rows.iter().map(|row| open(row, targets)).collect::<Result<_, _>>()?;
        self.kernel.revive(&records)?;
        self.kernel.apply(&held)?;
        self.fold()
    }

    fn fold(&mut self) -> Result<(), LoadError> {
        while self.chain.seq < self.end.seq {
            let Some(row) = self.page.next() else { break };
            let (seq, target) = (row.seq, row.target);
            if self.kernel.targets().try_get(target).is_none() {
                return Err(LoadError::UnknownTarget { seq, target });
            }
            self.chain.check(&row, &self.kernel.targets().path(target))?;
            let record = row.open()?;
            if let Some(deployment) = self.kernel.absent(&record) {
                self.held = Some((deployment, record));
                return Ok(());
            }
            self.kernel.apply(&record)?;
        }
        self.kernel.sweep();
        if self.chain.seq == self.end.seq && self.chain.hash != self.end.hash {
            return Err(LoadError::Chain(ChainBreak::Changed {
                seq: self.end.seq,
                expected: self.chain.hash,
                found: self.end.hash,
            }));
        }
        Ok(())
    }

    /// Position of the last record that was read.
    #[must_use]
    pub fn head(&self) -> Seq {
        self.chain.seq
    }

    /// Time of the last record that was folded: where the engine's clock starts.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.kernel.time()
    }

    /// The time at which the log goes on. While something in it waits for a time, that is where it
    /// ended: neither a long stop nor a wall clock that jumps may let it run out. Otherwise there
    /// is nothing to protect, and people expect records to have the time of day.
    #[must_use]
    pub fn resumes_at(&self, wall_clock: Timestamp) -> Timestamp {
        let time = self.kernel.time();
        if self.kernel.awaits_a_time() { time } else { time.max(wall_clock) }
    }

    /// What was folded so far, as a checkpoint. Only while it [needs](Self::need) no deployment.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        envelope::checkpoint(&self.kernel, self.chain.hash)
    }

    /// Becomes the writer, under an ownership that was taken before the end of the log was read.
    /// Every open lease counts as renewed now, because nobody could renew it while nobody wrote.
    #[must_use]
    pub fn finish(mut self, epoch: Epoch, now: Timestamp, limits: Limits) -> Writer {
        assert_eq!(self.need(), Need::Nothing, "the whole log is folded before it is written to");
        self.kernel.renew_all(now);
        let (hash, targets) = (self.chain.hash, self.targets);
        let sealer = Sealer { project: self.project, epoch, hash, targets };
        Writer::new(self.kernel, sealer, limits)
    }
}

/// The record of a row that was read out of its order: nobody has checked it yet.
pub(super) fn open(linked: &Linked, targets: &TargetTable) -> Result<Record, LoadError> {
    let (seq, target) = (linked.row.seq, linked.row.target);
    if targets.try_get(target).is_none() {
        return Err(LoadError::UnknownTarget { seq, target });
    }
    linked.check(&targets.path(target))?;
    Ok(linked.row.open()?)
}
