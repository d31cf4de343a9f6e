use std::sync::Arc;
use std::time::Duration;

use seaway_model::{DeploymentId, Name, Seq};
use seaway_store::{Filter, Order, Page, StoreError};

use super::export::{Answer, Exporter};
use super::fold::Fold;
use crate::app::App;
use crate::follow::{Progress, Tail, pause_after};

/// Records that become one batch at most.
const PAGE: usize = 500;
/// How long records are left to gather before the next batch.
const GATHERED: Duration = Duration::from_secs(1);
/// The name under which positions are kept beside those of webhooks, which have no dots.
const POSITION: &str = "otlp.traces";

/// Follows the log of a project and exports its spans.
struct Follower {
    app: Arc<App>,
    project: Name,
    exporter: Arc<Exporter>,
    name: Name,
    fold: Fold,
    progress: Progress,
    tail: Tail,
    failures: u32,
}

/// Follows the log until it is asked to stop. The first time it begins with what happens from now
/// on, and with the beginnings of what is under way.
pub(crate) async fn follow(app: Arc<App>, project: Name, exporter: Arc<Exporter>, mut tail: Tail) {
    let name = Name::new(POSITION).expect("it is a name");
    let mut failures = 0;
    let position = loop {
        match begin(&app, &project, &name, tail.head()).await {
            Ok(position) => break position,
            Err(error) => {
                tracing::warn!(%project, %error, "traces cannot begin yet");
                failures += 1;
                if tail.pause(pause_after(failures)).await.is_none() {
                    return;
                }
            }
        }
    };
    let (fold, progress) = (Fold::new(project.clone()), Progress::at(position));
    let mut follower = Follower { app, project, exporter, name, fold, progress, tail, failures: 0 };
    while follower.step().await.is_some() {}
    follower.leave().await;
}

async fn begin(app: &App, project: &Name, name: &Name, head: Seq) -> Result<Seq, StoreError> {
    match app.store.webhook_position(project, name).await? {
        Some(position) => Ok(position),
        None => {
            app.store.advance_webhook(project, name, head).await?;
            Ok(head)
        }
    }
}

impl Follower {
    async fn step(&mut self) -> Option<()> {
        let room = self.tail.turn_after(self.progress.position()).await?;
        let turn = self.take_turn().await;
        drop(room);
        match turn {
            Ok(pause) => match pause? {
                Duration::ZERO => Some(()),
                pause => self.tail.pause(pause).await,
            },
            Err(error) => {
                let project = &self.project;
                tracing::warn!(%project, %error, "traces cannot go on yet");
                let pause = self.fail();
                self.tail.pause(pause).await
            }
        }
    }

    /// What was folded and not exported is read again later; it is all in the log.
    fn fail(&mut self) -> Duration {
        self.fold.forget();
        self.failures = self.failures.saturating_add(1);
        pause_after(self.failures)
    }

    /// Tells how long to rest. Nothing when it should stop.
    async fn take_turn(&mut self) -> Result<Option<Duration>, StoreError> {
        let head = self.tail.head();
        let since = Some(self.progress.position().next());
        let filter = Filter { since, ..Filter::default() };
        let Page { items, next } = self.page(&filter, None).await?;
        let last = items.last().map(|listed| listed.row.seq);
        let (full, last) = (items.len() == PAGE, last.or(next).unwrap_or(head));
        let mut spans = Vec::new();
        for listed in items {
            if let Some(deployment) = self.fold.missing(&listed) {
                self.recall(deployment, listed.row.seq).await?;
            }
            self.fold.take(&listed, &mut spans);
        }
        self.fold.trim();
        if !spans.is_empty() {
            let exported = self.exporter.export(&spans);
            match self.tail.unless_stopped(exported).await {
                None => return Ok(None),
                Some(Answer::Taken) => {}
                Some(Answer::Refused(why)) => {
                    let (project, count) = (&self.project, spans.len());
                    tracing::warn!(%project, count, why, "the collector refused spans");
                }
                Some(Answer::Later { why, after }) => {
                    let pause = self.fail();
                    // Nobody needs to read it again and again.
                    if self.failures == 1 {
                        let project = &self.project;
                        tracing::warn!(%project, why, "no spans are taken now; the log keeps them");
                    }
                    return Ok(Some(after.map_or(pause, |after| after.max(pause))));
                }
            }
        }
        self.failures = 0;
        self.progress.pass(last);
        if !spans.is_empty() || self.progress.due().is_some() {
            self.save(last).await?;
        }
        Ok(Some(if full { Duration::ZERO } else { GATHERED }))
    }

    async fn page(
        &self,
        filter: &Filter,
        cursor: Option<Seq>,
    ) -> Result<Page<seaway_store::Listed>, StoreError> {
        let store = &self.app.store;
        store.list(&self.project, filter, Order::OldestFirst, cursor, PAGE).await
    }

    /// What happened to a deployment before a record.
    async fn recall(&mut self, deployment: DeploymentId, before: Seq) -> Result<(), StoreError> {
        let until = Some(Seq(before.0.saturating_sub(1)));
        let filter = Filter { deployment: Some(deployment), until, ..Filter::default() };
        let mut cursor = None;
        loop {
            let page = self.page(&filter, cursor).await?;
            page.items.iter().for_each(|listed| self.fold.recall(listed));
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    async fn save(&mut self, position: Seq) -> Result<(), StoreError> {
        self.app.store.advance_webhook(&self.project, &self.name, position).await?;
        self.progress.saved(position);
        Ok(())
    }

    async fn leave(&mut self) {
        if let Some(position) = self.progress.unsaved()
            && let Err(error) = self.save(position).await
        {
            tracing::debug!(project = %self.project, %error, "its position was not kept");
        }
    }
}
