use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use seaway_engine::Engine;
use seaway_model::{Name, Seq};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::look::Sight;
use super::tail::{Signal, Tail};
use crate::app::App;
use crate::documents::WEBHOOK;
use crate::trace::{self, Exporter};
use crate::webhook;

/// What all followers share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) app: Arc<App>,
    /// Turns of webhooks, and of traces, which are apart: a collector that does not answer holds up
    /// no webhook.
    webhook_turns: Arc<Semaphore>,
    trace_turns: Arc<Semaphore>,
    /// Where traces go, if anywhere.
    exporter: Option<Arc<Exporter>>,
}

/// Turns that are taken at the same time.
const WEBHOOK_TURNS: usize = 32;
const TRACE_TURNS: usize = 4;

impl Shared {
    pub(super) fn new(app: Arc<App>, exporter: Option<Arc<Exporter>>) -> Self {
        let webhook_turns = Arc::new(Semaphore::new(WEBHOOK_TURNS));
        let trace_turns = Arc::new(Semaphore::new(TRACE_TURNS));
        Self { app, webhook_turns, trace_turns, exporter }
    }
}

/// A project whose log is followed.
#[derive(Debug)]
pub(super) struct Followed {
    project: Name,
    head: watch::Sender<Seq>,
    webhooks: BTreeMap<Name, Running>,
    trace: Option<Running>,
    /// When it was looked at, and as of which position; nothing when it has to be soon.
    seen: Option<(Instant, Seq)>,
}

/// A follower at work.
#[derive(Debug)]
struct Running {
    /// The record that its document is of.
    applied: Seq,
    signal: watch::Sender<Signal>,
    task: JoinHandle<()>,
}

impl Running {
    /// Ends between two of its writes, so that nothing of it comes after what comes next.
    async fn stop(self) {
        self.signal.send_replace(Signal::Stop);
        self.ended().await;
    }

    async fn ended(self) {
        if let Err(error) = self.task.await {
            tracing::error!(%error, "a task that follows a log did not end well");
        }
    }
}

impl Followed {
    pub(super) fn new(project: &Name, sight: &Sight, shared: &Shared) -> Self {
        let mut followed = Self {
            project: project.clone(),
            head: watch::Sender::new(sight.at),
            webhooks: BTreeMap::new(),
            trace: None,
            seen: None,
        };
        if let Some(exporter) = &shared.exporter {
            let (project, exporter) = (project.clone(), exporter.clone());
            let (signal, tail) = followed.tail(&shared.trace_turns);
            let task = tokio::spawn(trace::follow(shared.app.clone(), project, exporter, tail));
            followed.trace = Some(Running { applied: Seq(0), signal, task });
        }
        followed
    }

    fn tail(&self, turns: &Arc<Semaphore>) -> (watch::Sender<Signal>, Tail) {
        let (sender, signal) = watch::channel(Signal::Go);
        let (head, turns) = (self.head.subscribe(), turns.clone());
        (sender, Tail { head, signal, turns })
    }

    /// Where the log is known to end. It may have gone elsewhere and come back meanwhile, so that
    /// no handle is good for ever.
    fn durable(&self, engine: &Engine) -> Seq {
        let here = engine.has(&self.project);
        if here { engine.project(&self.project).durable() } else { Seq(0) }
    }

    /// Tells the followers how far the log has come.
    pub(super) fn pass_on(&self, engine: &Engine) {
        if self.webhooks.is_empty() && self.trace.is_none() {
            return;
        }
        let durable = self.durable(engine);
        self.head.send_if_modified(|head| {
            let grown = durable > *head;
            *head = durable.max(*head);
            grown
        });
    }

    /// Whether its documents should be looked at: it went on since somebody did, some time ago.
    pub(super) fn is_stale(&self, engine: &Engine, after: Duration) -> bool {
        self.seen.is_none_or(|(when, at)| when.elapsed() > after && self.durable(engine) > at)
    }

    pub(super) fn look_again(&mut self) {
        self.seen = None;
    }

    /// Starts and ends followers as the documents say.
    pub(super) async fn update(&mut self, sight: Sight, shared: &Shared) {
        self.seen = Some((Instant::now(), sight.at));
        let project = self.project.clone();
        let mut wanted: BTreeMap<Name, _> =
            sight.webhooks.into_iter().map(|it| (it.0.name.clone(), it)).collect();
        for (name, running) in std::mem::take(&mut self.webhooks) {
            let newest = wanted.get(&name).map(|(_, applied)| *applied);
            if newest == Some(running.applied) && !running.task.is_finished() {
                wanted.remove(&name);
                self.webhooks.insert(name, running);
                continue;
            }
            running.stop().await;
            if newest.is_none() {
                forget(&shared.app, &project, &name).await;
            }
        }
        for (name, (document, applied)) in wanted {
            let (signal, tail) = self.tail(&shared.webhook_turns);
            let (app, project) = (shared.app.clone(), project.clone());
            let task = tokio::spawn(webhook::follow(app, project, (document, applied), tail));
            self.webhooks.insert(name, Running { applied, signal, task });
        }
    }

    /// Its followers should come to an end by themselves.
    pub(super) fn ask_to_finish(&self) {
        self.send(Signal::Finish);
    }

    pub(super) async fn finished(self) {
        for running in self.webhooks.into_values().chain(self.trace) {
            running.ended().await;
        }
    }

    /// Somebody else goes on.
    pub(super) async fn stop(self) {
        self.send(Signal::Stop);
        self.finished().await;
    }

    fn send(&self, signal: Signal) {
        for running in self.webhooks.values().chain(&self.trace) {
            running.signal.send_replace(signal);
        }
    }
}

/// Forgets a webhook that is gone, unless one of the same name was applied meanwhile.
async fn forget(app: &App, project: &Name, webhook: &Name) {
    let _alone = app.change(project).await;
    let name = webhook.clone();
    let handle = app.engine.project(project);
    let back = handle.inspect(move |kernel| kernel.document(WEBHOOK, name.as_str()).is_some());
    // Where nobody knows it stays, and one of the same name begins anew all the same.
    if !back.await.unwrap_or(true)
        && let Err(error) = app.store.drop_webhook(project, webhook).await
    {
        tracing::warn!(%project, %webhook, %error, "a deleted webhook is not forgotten yet");
    }
}
