use std::sync::Arc;
use std::time::Duration;

use seaway_api::{Claim, Claimed, Register};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

use crate::worker::attend::attend;
use crate::worker::backoff::Backoff;
use crate::worker::error::WorkerError;
use crate::worker::reaction::Reaction;
use crate::worker::share::{Share, patience};
use crate::worker::stop::{Stop, reached};
use crate::worker::summary::{Fate, Summary};
use crate::worker::supervise::Shared;

/// How long the executor may be silent before it counts as gone.
const TTL: u32 = 60;
/// A claim that brings nothing takes longer than this.
const SOON: Duration = Duration::from_secs(1);
const HEARTBEAT: Duration = Duration::from_secs(20);
/// How long signing off may take.
const LEAVE: Duration = Duration::from_secs(5);

/// The work for one project: its registration, its claims, and the tasks that came of them.
#[derive(Debug)]
pub(super) struct Attendance {
    shared: Arc<Shared>,
    project: String,
    tasks: JoinSet<Fate>,
    summary: Summary,
    share: Share,
}

impl Attendance {
    pub(super) fn new(shared: Arc<Shared>, project: String) -> Self {
        let (tasks, summary, share) = (JoinSet::new(), Summary::default(), Share::new());
        Self { shared, project, tasks, summary, share }
    }

    /// Works until the worker stops, and until everything it has begun is done.
    pub(super) async fn run(mut self) -> (Summary, Result<(), WorkerError>) {
        let mut stop = self.shared.stop();
        let ended = tokio::select! {
            ended = self.serve() => ended,
            () = reached(&mut stop, Stop::Drain) => Ok(()),
        };
        while let Some(done) = self.tasks.join_next().await {
            self.count(done);
        }
        if ended.is_ok() && !self.shared.options.replica {
            self.leave().await;
        }
        (self.summary, ended)
    }

    /// Claims and starts tasks. It can be dropped at any time: the tasks go on.
    async fn serve(&mut self) -> Result<(), WorkerError> {
        self.register().await?;
        let mut backoff = Backoff::new();
        loop {
            let permits = self.places().await;
            let asked = permits.len();
            let claim = Claim {
                max: u32::try_from(asked).unwrap_or(1),
                wait_seconds: patience(self.shared.places.available_permits(), self.shared.count()),
                lease_seconds: self.shared.options.lease_seconds(),
            };
            let name = &self.shared.options.name;
            let begun = Instant::now();
            match self.shared.client.claim(&self.project, name, &claim).await {
                Ok(Claimed { tasks }) if tasks.is_empty() && begun.elapsed() < SOON => {
                    // A server that stops sends everybody away at once, and comes back later.
                    drop(permits);
                    sleep(backoff.wait(None)).await;
                }
                Ok(claimed) => {
                    self.share.came(asked, claimed.tasks.len());
                    self.begin(claimed, permits);
                    backoff = Backoff::new();
                }
                Err(error) => {
                    drop(permits);
                    let wait = match Reaction::to(&error) {
                        Reaction::Again(asked) => backoff.wait(asked),
                        Reaction::Denied => return Err(self.denied(error)),
                        // It was silent for too long, or a copy of it has signed off.
                        Reaction::Gone | Reaction::Refused => {
                            tracing::info!(project = self.project, %error, "registering again");
                            self.register().await?;
                            backoff.wait(None)
                        }
                    };
                    tracing::warn!(project = self.project, %error, "no tasks can be claimed");
                    sleep(wait).await;
                }
            }
        }
    }

    async fn register(&self) -> Result<(), WorkerError> {
        let options = &self.shared.options;
        let subscriptions = options.definitions.subscriptions();
        let register = Register { subscriptions, ttl_seconds: TTL };
        let mut backoff = Backoff::new();
        loop {
            let done = self.shared.client.register(&self.project, &options.name, &register).await;
            let Err(error) = done else {
                tracing::info!(project = self.project, executor = options.name, "registered");
                return Ok(());
            };
            let project = self.project.clone();
            let wait = match Reaction::to(&error) {
                Reaction::Again(asked) => backoff.wait(asked),
                Reaction::Denied => return Err(self.denied(error)),
                Reaction::Gone => return Err(WorkerError::UnknownProject(project)),
                Reaction::Refused => return Err(WorkerError::Refused { project, source: error }),
            };
            tracing::warn!(project, %error, "the worker cannot be registered; trying again");
            sleep(wait).await;
        }
    }

    /// Waits for at least one free place, and says meanwhile that the worker is there.
    async fn places(&mut self) -> Vec<OwnedSemaphorePermit> {
        let mut heartbeat = interval(HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat.tick().await;
        let places = Arc::clone(&self.shared.places);
        let first = Arc::clone(&places).acquire_owned();
        tokio::pin!(first);
        let first = loop {
            tokio::select! {
                first = &mut first => break first.expect("the places are never closed"),
                Some(done) = self.tasks.join_next() => self.count(done),
                _ = heartbeat.tick() => self.heartbeat().await,
            }
        };
        while let Some(done) = self.tasks.try_join_next() {
            self.count(done);
        }
        let free = places.available_permits() + 1;
        let more = self.share.ask(free, self.shared.count()) - 1;
        let more = (0..more).map_while(|_| Arc::clone(&places).try_acquire_owned().ok());
        std::iter::once(first).chain(more).collect()
    }

    fn begin(&mut self, claimed: Claimed, permits: Vec<OwnedSemaphorePermit>) {
        for (task, permit) in claimed.tasks.into_iter().zip(permits) {
            let (shared, project) = (Arc::clone(&self.shared), self.project.clone());
            self.tasks.spawn(async move {
                let fate = attend(&shared, &project, &task).await;
                drop(permit);
                fate
            });
        }
    }

    fn count(&mut self, done: Result<Fate, tokio::task::JoinError>) {
        let fate = done.unwrap_or_else(|error| {
            tracing::error!(%error, "a task was not attended to its end");
            Fate::Lost
        });
        self.summary.count(fate);
    }

    async fn heartbeat(&self) {
        let name = &self.shared.options.name;
        if let Err(error) = self.shared.client.heartbeat(&self.project, name).await {
            tracing::warn!(project = self.project, %error, "the heartbeat was not heard");
        }
    }

    async fn leave(&self) {
        let left = self.shared.client.leave(&self.project, &self.shared.options.name);
        match timeout(LEAVE, left).await {
            Ok(Ok(_)) => tracing::info!(project = self.project, "signed off"),
            Ok(Err(error)) => tracing::warn!(project = self.project, %error, "not signed off"),
            Err(_) => tracing::warn!(project = self.project, "not signed off in time"),
        }
    }

    fn denied(&self, source: seaway_client::ClientError) -> WorkerError {
        WorkerError::Denied { project: self.project.clone(), source }
    }
}
