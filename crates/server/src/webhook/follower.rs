use std::sync::Arc;
use std::time::Duration;

use seaway_model::{Kind, Name, Seq};
use seaway_store::{Delivery, Filter, Listed, Order, Page, StoreError};
use seaway_wire::RecordEvent;
use tokio::time::Instant;

use super::beginning::{Beginning, Edit, beginning};
use super::deliver::deliver;
use super::document::WebhookDocument;
use super::key::{KeyTrouble, signing_key};
use super::message::{Message, message};
use super::retry::{Heard, Next};
use crate::app::App;
use crate::clock;
use crate::follow::{Progress, Tail, pause_after};

/// Records that are looked at in one turn, and how long a turn may take: others wait for theirs.
const PAGE: usize = 64;
const TURN: Duration = Duration::from_secs(5);

/// Follows the log of a project for one webhook, and sends what it wants, in order.
pub(crate) struct Follower {
    app: Arc<App>,
    project: Name,
    webhook: WebhookDocument,
    progress: Progress,
    tail: Tail,
    failures: u32,
}

/// How a turn ended.
#[derive(Debug)]
enum Turn {
    /// There may be more to do.
    Over,
    /// A message failed and is sent again after this.
    Wait(Duration),
    /// The webhook was deleted at this point of the log.
    Deleted,
    Stopped,
}

/// Follows the log until it is asked to stop. `applied` is the record that the document is of.
pub(crate) async fn follow(
    app: Arc<App>,
    project: Name,
    (webhook, applied): (WebhookDocument, Seq),
    mut tail: Tail,
) {
    let mut failures = 0;
    let position = loop {
        match begin(&app, &project, &webhook, applied).await {
            Ok(position) => break position,
            Err(error) => {
                let name = &webhook.name;
                tracing::warn!(%project, webhook = %name, %error, "webhook cannot begin yet");
                failures += 1;
                if tail.pause(pause_after(failures)).await.is_none() {
                    return;
                }
            }
        }
    };
    let progress = Progress::at(position);
    let mut follower = Follower { app, project, webhook, progress, tail, failures: 0 };
    while follower.step().await.is_some() {}
}

/// Finds out where to begin, and makes a key where there is none.
async fn begin(
    app: &App,
    project: &Name,
    webhook: &WebhookDocument,
    applied: Seq,
) -> Result<Seq, StoreError> {
    let name = &webhook.name;
    let known = app.store.webhook_position(project, name).await?;
    let edits = match known {
        Some(known) => edits(app, project, name, (known, applied)).await?,
        None => Vec::new(),
    };
    let position = match beginning(known, applied, edits) {
        Beginning::GoOn(position) => position,
        Beginning::Anew(position) => {
            app.store.advance_webhook(project, name, position).await?;
            position
        }
    };
    match signing_key(app, project, name).await {
        Ok(_) => {}
        Err(KeyTrouble::Store(error)) => return Err(error),
        // It is told with each message that cannot be signed.
        Err(KeyTrouble::Sealed(error)) => {
            tracing::error!(%project, webhook = %name, %error, "messages cannot be signed");
        }
    }
    Ok(position)
}

/// What was done to a webhook after a position and up to the record that its document is of.
async fn edits(
    app: &App,
    project: &Name,
    webhook: &Name,
    (after, last): (Seq, Seq),
) -> Result<Vec<(Seq, Edit)>, StoreError> {
    let kind = Some(Kind::Documents);
    let filter = Filter { kind, since: Some(after.next()), until: Some(last), ..Filter::default() };
    let mut edits = Vec::new();
    let mut cursor = None;
    loop {
        let page = app.store.list(project, &filter, Order::OldestFirst, cursor, PAGE).await?;
        let rows = page.items.iter().map(|listed| &listed.row);
        edits.extend(rows.filter_map(|row| Some((row.seq, Edit::of(row, webhook)?))));
        cursor = page.next;
        if cursor.is_none() {
            return Ok(edits);
        }
    }
}

impl Follower {
    /// Waits for work and does some. Nothing, once it is asked to stop.
    async fn step(&mut self) -> Option<()> {
        let Some(room) = self.tail.turn_after(self.progress.position()).await else {
            self.leave().await;
            return None;
        };
        let turn = self.take_turn().await;
        drop(room);
        match turn {
            Ok(turn) => {
                self.failures = 0;
                self.rest(turn).await
            }
            Err(error) => {
                self.failures = self.failures.saturating_add(1);
                let (project, webhook) = (&self.project, &self.webhook.name);
                tracing::warn!(%project, %webhook, %error, "webhook cannot go on yet");
                self.tail.pause(pause_after(self.failures)).await
            }
        }
    }

    async fn rest(&mut self, turn: Turn) -> Option<()> {
        match turn {
            Turn::Over => Some(()),
            Turn::Wait(pause) => self.tail.pause(pause).await,
            Turn::Deleted => {
                self.tail.until_stopped().await;
                None
            }
            Turn::Stopped => None,
        }
    }

    /// Whoever goes on need not look again at what nobody wanted.
    async fn leave(&mut self) {
        if let Some(position) = self.progress.unsaved()
            && let Err(error) = self.save(position).await
        {
            let (project, webhook) = (&self.project, &self.webhook.name);
            tracing::debug!(%project, %webhook, %error, "its position was not kept");
        }
    }

    async fn save(&mut self, position: Seq) -> Result<(), StoreError> {
        self.app.store.advance_webhook(&self.project, &self.webhook.name, position).await?;
        self.progress.saved(position);
        Ok(())
    }

    async fn take_turn(&mut self) -> Result<Turn, StoreError> {
        let (began, head) = (Instant::now(), self.tail.head());
        let since = Some(self.progress.position().next());
        let filter = Filter { since, ..Filter::default() };
        let store = &self.app.store;
        let Page { items, next } =
            store.list(&self.project, &filter, Order::OldestFirst, None, PAGE).await?;
        // What is missing between two records is in an archive.
        let end = if items.is_empty() { next.unwrap_or(head) } else { Seq(0) };
        for listed in items {
            match self.look_at(&listed).await? {
                Turn::Over => {}
                turn => return Ok(turn),
            }
            if began.elapsed() > TURN {
                return Ok(Turn::Over);
            }
        }
        self.progress.pass(end);
        if let Some(position) = self.progress.due() {
            self.save(position).await?;
        }
        Ok(Turn::Over)
    }

    async fn look_at(&mut self, listed: &Listed) -> Result<Turn, StoreError> {
        let Listed { row, path } = listed;
        if Edit::of(row, &self.webhook.name) == Some(Edit::Deleted) {
            return Ok(Turn::Deleted);
        }
        if !self.webhook.wants(&RecordEvent::of(path, row.kind, row.fact).name) {
            self.progress.pass(row.seq);
            return Ok(Turn::Over);
        }
        let start = match row.deployment {
            Some(deployment) => self.app.store.deployment(&self.project, deployment).await?,
            None => None,
        };
        self.send(row.seq, message(&self.project, listed, start.as_ref())).await
    }

    /// One attempt, which is noted whatever becomes of it, unless it is broken off.
    async fn send(&mut self, seq: Seq, message: Message) -> Result<Turn, StoreError> {
        let (at, began, event) = (clock::now(), Instant::now(), message.event.clone());
        let name = &self.webhook.name;
        let heard = match signing_key(&self.app, &self.project, name).await {
            Ok(key) => {
                let sent = deliver(&self.app.outbound, &self.webhook.url, &key, message);
                self.tail.unless_stopped(sent).await
            }
            Err(KeyTrouble::Store(error)) => return Err(error),
            Err(KeyTrouble::Sealed(error)) => Some(Heard::NotSent(error.to_string())),
        };
        let Some(heard) = heard else { return Ok(Turn::Stopped) };
        let attempt = self.progress.attempt(seq);
        let next = heard.next(attempt);
        // What was sent is not sent again because it could not be noted.
        match next {
            Next::TryAgain(_) => self.progress.failed(seq),
            Next::Delivered | Next::GiveUp => self.progress.pass(seq),
        }
        let delivery = Delivery {
            record: seq,
            attempt,
            at,
            outcome: next.outcome(),
            event: event.into(),
            detail: heard.detail().into(),
            milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        self.app.store.note_delivery(&self.project, name, &delivery).await?;
        self.settle(seq, next, &delivery.detail).await
    }

    async fn settle(&mut self, seq: Seq, next: Next, why: &str) -> Result<Turn, StoreError> {
        let (project, webhook) = (&self.project, &self.webhook.name);
        match next {
            Next::TryAgain(pause) => {
                tracing::debug!(%project, %webhook, record = %seq, why, "a message failed");
                return Ok(Turn::Wait(pause));
            }
            Next::GiveUp => {
                tracing::warn!(%project, %webhook, record = %seq, why, "a message was given up");
            }
            Next::Delivered => {}
        }
        self.save(seq).await?;
        Ok(Turn::Over)
    }
}
