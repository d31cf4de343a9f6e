use std::collections::BTreeSet;

use seaway_engine::core::{AppendFailure, Obstacle};
use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Digest, Epoch, Name, Revision, Seq};
use seaway_store::Checkpoint;
use seaway_wire::{Append, ChainCheck, DeploymentStart, KeptAnswer, Linked, Row, StoredTarget};

use crate::verify::{Rule, Violation};

/// A store that loses in a crash what was not synced: whole appends, the last ones first, never a
/// part of one.
#[derive(Debug)]
pub(super) struct Disk {
    epoch: Epoch,
    rows: Vec<Row>,
    targets: Vec<StoredTarget>,
    starts: Vec<DeploymentStart>,
    answers: Vec<KeptAnswer>,
    synced: Mark,
    /// Where each append that is not synced ends.
    unsynced: Vec<Mark>,
    pub(super) checkpoint: Option<Checkpoint>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    rows: usize,
    targets: usize,
    answers: usize,
}

impl Disk {
    pub(super) fn new() -> Self {
        Self {
            epoch: Epoch(0),
            rows: Vec::new(),
            targets: Vec::new(),
            starts: Vec::new(),
            answers: Vec::new(),
            synced: Mark::default(),
            unsynced: Vec::new(),
            checkpoint: None,
        }
    }

    /// Takes ownership. It is a write like any other, so what was written before it is durable too.
    pub(super) fn acquire(&mut self) -> Epoch {
        self.sync();
        self.epoch = self.epoch.next();
        self.epoch
    }

    /// Writes an append at the end of the log, if its owner owns the project and it fits.
    pub(super) fn land(&mut self, append: &Append) -> Result<(), AppendFailure> {
        if append.epoch != self.epoch && !planted(Bug::EpochUnchecked) {
            return Err(AppendFailure::Fenced);
        }
        let first = append.rows.first().map(|row| row.seq.0);
        if first != Some(self.rows.len() as u64 + 1) {
            return Err(AppendFailure::NotWritten(Obstacle::Conflict));
        }
        self.rows.extend(append.rows.iter().cloned());
        let known = self.targets.last().map(|target| target.def.id);
        let fresh =
            append.targets.iter().filter(|target| known.is_none_or(|it| target.def.id > it));
        self.targets.extend(fresh.cloned());
        self.starts.extend(append.starts.iter().cloned());
        self.answers.extend(append.answers.iter().copied());
        let (rows, targets, answers) = (self.rows.len(), self.targets.len(), self.answers.len());
        self.unsynced.push(Mark { rows, targets, answers });
        Ok(())
    }

    /// A key is kept once.
    pub(super) fn check_answers(&self) -> Result<(), Violation> {
        let keys: BTreeSet<Digest> = self.answers.iter().map(|answer| answer.key).collect();
        match keys.len() == self.answers.len() {
            true => Ok(()),
            false => Err(Violation::new(Rule::Once, "a key is kept twice")),
        }
    }

    pub(super) fn sync(&mut self) {
        if let Some(last) = self.unsynced.drain(..).next_back() {
            self.synced = last;
        }
    }

    pub(super) fn unsynced(&self) -> usize {
        self.unsynced.len()
    }

    /// The machine stops. Of the appends that were not synced, the first `kept` survive.
    pub(super) fn crash(&mut self, kept: usize) {
        if let Some(last) = self.unsynced.drain(..).take(kept).next_back() {
            self.synced = last;
        }
        self.rows.truncate(self.synced.rows);
        self.targets.truncate(self.synced.targets);
        self.answers.truncate(self.synced.answers);
        let head = self.head().seq;
        self.starts.retain(|start| start.seq <= head);
    }

    /// Where the durable log ends.
    pub(super) fn head(&self) -> ChainCheck {
        match self.rows().last() {
            Some(row) => ChainCheck { seq: row.seq, hash: row.hash },
            None => ChainCheck::from_genesis(),
        }
    }

    /// The durable rows.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows[..self.synced.rows]
    }

    pub(super) fn hashes(&self) -> impl ExactSizeIterator<Item = &Digest> {
        self.rows().iter().map(|row| &row.hash)
    }

    pub(super) fn targets(&self) -> &[StoredTarget] {
        &self.targets[..self.synced.targets]
    }

    pub(super) fn rows_after(&self, after: Seq, limit: usize) -> Vec<Row> {
        self.rows().iter().skip(after.0 as usize).take(limit).cloned().collect()
    }

    pub(super) fn rows_of(&self, deployment: DeploymentId, before: Seq) -> Vec<Linked> {
        let mine = |row: &Row| row.deployment == Some(deployment) && row.seq < before;
        Linked::pick(self.rows(), mine)
    }

    /// What is durably kept under a key.
    pub(super) fn kept(&self, key: &Digest) -> Option<&KeptAnswer> {
        self.answers[..self.synced.answers].iter().find(|answer| answer.key == *key)
    }

    /// Whether the durable log has a deployment.
    pub(super) fn has_started(&self, deployment: DeploymentId) -> bool {
        let head = self.head().seq;
        self.starts.iter().any(|start| start.seq <= head && start.deployment == deployment)
    }

    /// The number that a version has, as far as the durable log knows.
    pub(super) fn known(&self, service: &Name, version: &str) -> Option<Revision> {
        let head = self.head().seq;
        let durable = self.starts.iter().filter(|start| start.seq <= head);
        let mut same =
            durable.filter(|start| start.service == *service && &*start.version == version);
        same.next().map(|start| start.revision)
    }
}
