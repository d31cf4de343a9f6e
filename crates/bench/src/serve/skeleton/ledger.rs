use std::sync::Arc;

use anyhow::{Context, Result};
use futures::stream::{FuturesOrdered, StreamExt};
use seaway_kernel::Record;
use seaway_model::{
    DeploymentId, Digest, Epoch, FastMap, Name, Revision, Seq, Span, TargetDef, Timestamp,
};
use seaway_store::{AppendError, Store};
use seaway_wire::{Append, DeploymentStart, KeptAnswer, Row, SpanEdit, StoredTarget};
use tokio::sync::{mpsc, oneshot};

use super::offers::{Offer, Offers};
use super::pattern::{Pattern, Use, fill};
use crate::composer::Composer;
use crate::identity::name;
use crate::serve::work::{PROJECT, TASKS};
use crate::watch::Watch;

/// As in the engine: requests of one append, and appends that are not durable yet.
const REQUESTS: usize = 1_024;
const OUTSTANDING: usize = 2;
const BEGINNING: Timestamp = Timestamp(1_700_000_000_000_000);

/// What a request asks to be written.
#[derive(Debug)]
pub(super) enum Entry {
    Trigger { deployment: DeploymentId, service: Name, version: Box<str>, data: Box<str> },
    Claim { tasks: Vec<(DeploymentId, usize)> },
    Started { deployment: DeploymentId, task: usize, data: Box<str> },
    Finished { deployment: DeploymentId, task: usize, data: Box<str> },
}

impl Entry {
    /// The deployment that begins with it.
    fn started(&self) -> Option<DeploymentId> {
        match self {
            Self::Trigger { deployment, .. } => Some(*deployment),
            Self::Claim { .. } | Self::Started { .. } | Self::Finished { .. } => None,
        }
    }
}

/// A request on its way to the ledger.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) entry: Entry,
    /// Under which its answer is kept.
    pub(super) key: Option<Digest>,
    /// Told its position in the log, once that is durable; or nothing, when it was not written.
    pub(super) caller: oneshot::Sender<Seq>,
}

/// The only one who writes: one append for all who wait, chained and durable before anybody is
/// answered.
#[derive(Debug)]
pub(super) struct Ledger {
    store: Store,
    pattern: Pattern,
    offers: Arc<Offers>,
    epoch: Epoch,
    clock: Watch,
    seq: Seq,
    hash: Digest,
    revision: Revision,
    under_way: FastMap<DeploymentId, (Name, Revision)>,
}

/// What is told when an append is durable.
#[derive(Debug)]
struct Told {
    callers: Vec<(oneshot::Sender<Seq>, Seq)>,
    offers: Vec<Offer>,
}

impl Ledger {
    /// Begins the log with the pipeline, and with everything that comes only once.
    pub(super) async fn open(store: Store, offers: Arc<Offers>) -> Result<Self> {
        let project = name(PROJECT);
        store.create_project(&project).await?;
        let epoch = store.acquire(&project, "bench").await?;
        let pattern = Pattern::learn()?;
        let mut ledger = Self {
            store,
            offers,
            epoch,
            clock: Watch::start(),
            seq: Seq(0),
            hash: Digest::GENESIS,
            revision: Revision(1_000),
            under_way: FastMap::default(),
            pattern,
        };
        let before = std::mem::take(&mut ledger.pattern.before);
        let table = ledger.pattern.targets();
        let mut rows = Vec::new();
        for record in &before {
            let row = Row::seal(record, &table.path(record.target), ledger.hash);
            (ledger.hash, ledger.seq) = (row.hash, row.seq);
            rows.push(row);
        }
        let stored = |def: TargetDef| {
            let path = table.path(def.id).to_string().into_boxed_str();
            StoredTarget { def, path }
        };
        let targets = table.defined_from(1).map(stored).collect();
        let append = Composer::new(&project).compose(table, &before, rows, targets);
        ledger.store.append(append).await?;
        Ok(ledger)
    }

    /// Writes until nobody can ask any more.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Request>) -> Result<()> {
        let mut outstanding = FuturesOrdered::new();
        let mut batch = Vec::new();
        loop {
            let listening = outstanding.len() < OUTSTANDING;
            tokio::select! {
                biased;
                Some(told) = outstanding.next() => self.tell(told)?,
                count = inbox.recv_many(&mut batch, REQUESTS), if listening => {
                    if count == 0 {
                        return Ok(());
                    }
                    let (append, told) = self.write(&mut batch);
                    let receipt = self.store.hand_in(append).await?;
                    outstanding.push_back(async move { receipt.await.map(|()| told) });
                }
            }
        }
    }

    fn tell(&self, told: Result<Told, AppendError>) -> Result<()> {
        let Told { callers, offers } = told.context("writing to the store")?;
        for (caller, seq) in callers {
            // A caller that went away does not need its answer.
            let _ = caller.send(seq);
        }
        self.offers.put(offers);
        Ok(())
    }

    fn write(&mut self, batch: &mut Vec<Request>) -> (Append, Told) {
        let micros = i64::try_from(self.clock.elapsed().as_micros()).unwrap_or(i64::MAX);
        let mut sheet = Sheet::new(self.epoch, BEGINNING + Span(micros));
        let mut told = Told { callers: Vec::new(), offers: Vec::new() };
        for Request { entry, key, caller } in batch.drain(..) {
            let deployment = entry.started();
            told.offers.extend(self.enter(entry, &mut sheet));
            let (at, revision) = (self.seq, deployment.map(|_| self.revision));
            let answer = key.map(|key| KeptAnswer { key, at, deployment, revision });
            sheet.append.answers.extend(answer);
            told.callers.push((caller, at));
        }
        (sheet.append, told)
    }

    /// Writes what a request leads to, and gives the task that it makes doable.
    fn enter(&mut self, entry: Entry, sheet: &mut Sheet) -> Option<Offer> {
        match entry {
            Entry::Trigger { deployment, service, version, data } => {
                self.revision = self.revision.next();
                let revision = self.revision;
                let given =
                    Use { deployment, service: &service, version: &version, revision, data: &data };
                let end = sheet.put(&self.pattern, Part::Trigger, given, (self.seq, self.hash));
                (self.seq, self.hash) = end;
                self.under_way.insert(deployment, (service.clone(), revision));
                Some(Offer { deployment, task: 0, service, data })
            }
            Entry::Claim { tasks } => {
                for (deployment, task) in tasks {
                    self.continue_with(deployment, Part::Claim(task), "", sheet);
                }
                None
            }
            Entry::Started { deployment, task, data } => {
                self.continue_with(deployment, Part::Started(task), &data, sheet);
                None
            }
            Entry::Finished { deployment, task, data } => {
                self.continue_with(deployment, Part::Finished(task), &data, sheet);
                let next = task + 1;
                if next == TASKS.len() {
                    self.under_way.remove(&deployment);
                    return None;
                }
                let service = self.under_way.get(&deployment)?.0.clone();
                Some(Offer { deployment, task: next, service, data })
            }
        }
    }

    fn continue_with(&mut self, id: DeploymentId, part: Part, data: &str, sheet: &mut Sheet) {
        let Some((service, revision)) = self.under_way.get(&id) else { return };
        let given = Use { deployment: id, service, version: "", revision: *revision, data };
        (self.seq, self.hash) = sheet.put(&self.pattern, part, given, (self.seq, self.hash));
    }
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Trigger,
    Claim(usize),
    Started(usize),
    Finished(usize),
}

/// An append that is being written.
struct Sheet {
    append: Append,
    at: Timestamp,
}

impl Sheet {
    fn new(epoch: Epoch, at: Timestamp) -> Self {
        let project = name(PROJECT);
        let (rows, targets, spans) = (Vec::new(), Vec::new(), Vec::new());
        let (starts, answers) = (Vec::new(), Vec::new());
        Self { append: Append { project, epoch, rows, targets, spans, starts, answers }, at }
    }

    /// Writes a part of the pattern behind a position, and gives the last position and its hash.
    fn put(
        &mut self,
        pattern: &Pattern,
        part: Part,
        given: Use<'_>,
        (mut seq, mut hash): (Seq, Digest),
    ) -> (Seq, Digest) {
        let records: &[Record] = match part {
            Part::Trigger => &pattern.trigger,
            Part::Claim(task) => &pattern.tasks[task].claim,
            Part::Started(task) => &pattern.tasks[task].started,
            Part::Finished(task) => &pattern.tasks[task].finished,
        };
        let table = pattern.targets();
        for record in records {
            seq = seq.next();
            let record = fill(record, given, seq, self.at);
            let row = Row::seal(&record, &table.path(record.target), hash);
            hash = row.hash;
            self.append.rows.push(row);
            self.append.spans.extend(SpanEdit::of(&record, table, given.service));
            self.append.starts.extend(DeploymentStart::of(&record));
        }
        (seq, hash)
    }
}
