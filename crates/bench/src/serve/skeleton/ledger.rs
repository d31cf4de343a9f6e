use std::collections::VecDeque;

use anyhow::{Context, Result};
use futures::stream::{FuturesOrdered, StreamExt};
use seaway_model::{DeploymentId, Digest, Epoch, FastMap, Name, Revision, Seq, Span, Timestamp};
use seaway_store::{AppendError, Store};
use seaway_wire::{KeptAnswer, Row, StoredTarget};
use tokio::sync::{mpsc, oneshot};

use super::pattern::{Pattern, Use};
use super::request::{Event, Offer, Request, What};
use super::sheet::{End, Sheet, Told};
use crate::composer::Composer;
use crate::identity::name;
use crate::serve::work::{PROJECT, TASKS};
use crate::watch::Watch;

/// As in the engine: requests of one append, and appends that are not durable yet.
const REQUESTS: usize = 1_024;
const OUTSTANDING: usize = 2;
const BEGINNING: Timestamp = Timestamp(1_700_000_000_000_000);

/// The only one who writes: one append for all who wait, chained and durable before anybody is
/// answered. Who waits for a task gets it with the append that makes it doable.
#[derive(Debug)]
pub(super) struct Ledger {
    store: Store,
    pattern: Pattern,
    epoch: Epoch,
    clock: Watch,
    end: End,
    revision: Revision,
    under_way: FastMap<DeploymentId, (Name, Revision)>,
    /// Tasks that wait for an executor, and claims that wait for tasks.
    offers: VecDeque<Offer>,
    claims: VecDeque<(usize, oneshot::Sender<Vec<Offer>>)>,
}

impl Ledger {
    /// Begins the log with the pipeline, and with everything that comes only once.
    pub(super) async fn open(store: Store) -> Result<Self> {
        let project = name(PROJECT);
        store.create_project(&project).await?;
        let epoch = store.acquire(&project, "bench").await?;
        let mut pattern = Pattern::learn()?;
        let before = std::mem::take(&mut pattern.before);
        let table = pattern.targets();
        let mut end = End { seq: Seq(0), hash: Digest::GENESIS };
        let seal = |record| {
            let row = Row::seal(record, &table.path(record.target), end.hash);
            end = End { seq: row.seq, hash: row.hash };
            row
        };
        let rows = before.iter().map(seal).collect();
        let targets = table.defined_from(1).map(|def| {
            let path = table.path(def.id).to_string().into_boxed_str();
            StoredTarget { def, path }
        });
        let targets = targets.collect();
        store.append(Composer::new(&project).compose(table, &before, rows, targets)).await?;
        Ok(Self {
            store,
            pattern,
            epoch,
            clock: Watch::start(),
            end,
            revision: Revision(1_000),
            under_way: FastMap::default(),
            offers: VecDeque::new(),
            claims: VecDeque::new(),
        })
    }

    /// Writes until nobody can ask any more.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Request>) -> Result<()> {
        let mut outstanding = FuturesOrdered::new();
        let mut batch = Vec::new();
        loop {
            let listening = outstanding.len() < OUTSTANDING;
            tokio::select! {
                biased;
                Some(told) = outstanding.next() => tell(told)?,
                count = inbox.recv_many(&mut batch, REQUESTS), if listening => {
                    if count == 0 {
                        return Ok(());
                    }
                    let Sheet { append, told, .. } = self.write(&mut batch);
                    // Claims that find nothing write nothing.
                    if !append.rows.is_empty() {
                        let receipt = self.store.hand_in(append).await?;
                        outstanding.push_back(async move { receipt.await.map(|()| told) });
                    }
                }
            }
        }
    }

    fn write(&mut self, batch: &mut Vec<Request>) -> Sheet {
        let micros = i64::try_from(self.clock.elapsed().as_micros()).unwrap_or(i64::MAX);
        let mut sheet = Sheet::new(self.epoch, BEGINNING + Span(micros));
        for request in batch.drain(..) {
            match request {
                Request::Event { event, key, caller } => {
                    let deployment = event.deployment;
                    let revision = self.enter(event, &mut sheet);
                    let (at, deployment) = (self.end.seq, revision.map(|_| deployment));
                    let answer = key.map(|key| KeptAnswer { key, at, deployment, revision });
                    sheet.append.answers.extend(answer);
                    sheet.told.events.push((caller, at));
                }
                Request::Claim { max, caller } => self.claims.push_back((max, caller)),
            }
        }
        self.hand_out(&mut sheet);
        sheet
    }

    /// Writes what an event leads to. The revision is that of a deployment that begins with it.
    fn enter(&mut self, event: Event, sheet: &mut Sheet) -> Option<Revision> {
        let Event { deployment, what, data } = event;
        match what {
            What::Triggered { service, version } => {
                self.revision = self.revision.next();
                let revision = self.revision;
                let given =
                    Use { deployment, service: &service, version: &version, revision, data: &data };
                sheet.put(&self.pattern, |it, _| &it.trigger, (0, given), &mut self.end);
                self.under_way.insert(deployment, (service.clone(), revision));
                self.offers.push_back(Offer { deployment, task: 0, service, data });
                return Some(revision);
            }
            What::Started(task) => {
                let (service, revision) = self.under_way.get(&deployment)?;
                let given =
                    Use { deployment, service, version: "", revision: *revision, data: &data };
                sheet.put(
                    &self.pattern,
                    |it, n| &it.tasks[n].started,
                    (task, given),
                    &mut self.end,
                );
            }
            What::Finished(task) => {
                let (service, revision) = self.under_way.get(&deployment)?;
                let given =
                    Use { deployment, service, version: "", revision: *revision, data: &data };
                sheet.put(
                    &self.pattern,
                    |it, n| &it.tasks[n].finished,
                    (task, given),
                    &mut self.end,
                );
                if task + 1 == TASKS.len() {
                    self.under_way.remove(&deployment);
                } else {
                    let (service, task) = (service.clone(), task + 1);
                    self.offers.push_back(Offer { deployment, task, service, data });
                }
            }
        }
        None
    }

    /// Gives the tasks that wait to the claims that wait. The log has it before anybody is told.
    fn hand_out(&mut self, sheet: &mut Sheet) {
        while !self.offers.is_empty() {
            let Some((max, caller)) = self.claims.pop_front() else { return };
            if caller.is_closed() {
                continue;
            }
            let count = self.offers.len().min(max);
            let tasks: Vec<Offer> = self.offers.drain(..count).collect();
            for Offer { deployment, task, .. } in &tasks {
                let Some((service, revision)) = self.under_way.get(deployment) else { continue };
                let (deployment, revision) = (*deployment, *revision);
                let given = Use { deployment, service, version: "", revision, data: "" };
                sheet.put(&self.pattern, |it, n| &it.tasks[n].claim, (*task, given), &mut self.end);
            }
            sheet.told.claims.push((caller, tasks));
        }
    }
}

/// A caller that went away does not need its answer.
fn tell(told: Result<Told, AppendError>) -> Result<()> {
    let Told { events, claims } = told.context("writing to the store")?;
    for (caller, seq) in events {
        let _ = caller.send(seq);
    }
    for (caller, tasks) in claims {
        let _ = caller.send(tasks);
    }
    Ok(())
}
