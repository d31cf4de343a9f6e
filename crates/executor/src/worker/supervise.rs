use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use seaway_client::{Client, ClientError, Paging};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::command::Outer;
use crate::worker::error::WorkerError;
use crate::worker::options::{Projects, WorkerOptions};
use crate::worker::project::Attendance;
use crate::worker::reaction::Reaction;
use crate::worker::stop::{Stop, escalate, raise, reached};
use crate::worker::summary::Summary;

/// How often it is looked for new projects.
const LIST: Duration = Duration::from_secs(1);
/// Pieces of the list of projects.
const MOST_PAGES: usize = 1_000;

/// Claims tasks and carries them out as commands.
#[derive(Debug)]
pub struct Worker {
    client: Client,
    options: WorkerOptions,
}

/// What all projects of a worker share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) client: Client,
    pub(super) options: WorkerOptions,
    pub(super) outer: Outer,
    /// One for each task that may run at the same time.
    pub(super) places: Arc<Semaphore>,
    projects: AtomicUsize,
    level: watch::Sender<Stop>,
}

impl Shared {
    pub(super) fn stop(&self) -> watch::Receiver<Stop> {
        self.level.subscribe()
    }

    /// How many projects are worked for.
    pub(super) fn count(&self) -> usize {
        self.projects.load(Ordering::Relaxed)
    }

    pub(super) fn source(&self) -> String {
        format!("seaway-worker/{}", self.options.name)
    }
}

impl Worker {
    #[must_use]
    pub fn new(client: Client, options: WorkerOptions) -> Self {
        Self { client, options }
    }

    /// Works until it is told to stop, or until the server does not want it any more. When this
    /// returns, nothing that it started runs any more.
    pub async fn run(self, stop: watch::Receiver<Stop>) -> Result<Summary, WorkerError> {
        let Self { client, options } = self;
        let (level, _) = watch::channel(Stop::No);
        let escalation = tokio::spawn(escalate(stop, options.drain, level.clone()));
        let shared = Arc::new(Shared {
            client,
            places: Arc::new(Semaphore::new(options.concurrency.max(1))),
            options,
            outer: std::env::vars_os().collect(),
            projects: AtomicUsize::new(0),
            level,
        });
        let done = Crew { shared, loops: JoinSet::new(), known: BTreeSet::new(), blind: false }
            .work()
            .await;
        escalation.abort();
        done
    }
}

/// The loops of all projects.
#[derive(Debug)]
struct Crew {
    shared: Arc<Shared>,
    loops: JoinSet<(String, Summary, Result<(), WorkerError>)>,
    known: BTreeSet<String>,
    /// Whether the last list could not be had, which is told once.
    blind: bool,
}

impl Crew {
    async fn work(mut self) -> Result<Summary, WorkerError> {
        let mut summary = Summary::default();
        let mut failed = None;
        let mut stop = self.shared.stop();
        let all = match self.shared.options.projects.clone() {
            Projects::Named(names) => {
                names.into_iter().for_each(|name| self.hire(name));
                false
            }
            Projects::All => true,
        };
        let mut list = interval(LIST);
        list.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let listing = all && *stop.borrow() == Stop::No;
            tokio::select! {
                Some(done) = self.loops.join_next() => {
                    let (project, done, ended) = done.expect("a loop does not panic");
                    self.shared.projects.store(self.loops.len(), Ordering::Relaxed);
                    summary.add(done);
                    match ended {
                        Err(error) if !all => {
                            raise(&self.shared.level, Stop::Drain);
                            failed.get_or_insert(error);
                        }
                        // It may come back.
                        Ok(()) | Err(WorkerError::UnknownProject(_)) => {
                            self.known.remove(&project);
                        }
                        // One of all projects that does not want the worker is left alone.
                        Err(error) => tracing::warn!(project, %error, "left alone"),
                    }
                }
                _ = list.tick(), if listing => {
                    if let Err(error) = self.look_for_projects().await {
                        raise(&self.shared.level, Stop::Drain);
                        failed.get_or_insert(error);
                    }
                }
                () = reached(&mut stop, Stop::Drain), if listing => {}
                else => break,
            }
            if self.loops.is_empty() && !(all && *stop.borrow() == Stop::No) {
                break;
            }
        }
        failed.map_or(Ok(summary), Err)
    }

    fn hire(&mut self, project: String) {
        if !self.known.insert(project.clone()) {
            return;
        }
        let attendance = Attendance::new(Arc::clone(&self.shared), project.clone());
        self.loops.spawn(async move {
            let (summary, ended) = attendance.run().await;
            (project, summary, ended)
        });
        self.shared.projects.store(self.loops.len(), Ordering::Relaxed);
    }

    async fn look_for_projects(&mut self) -> Result<(), WorkerError> {
        let mut paging = Paging::default();
        for _ in 0..MOST_PAGES {
            let page = match self.shared.client.projects(&paging).await {
                Ok(page) => page,
                Err(error) => return self.unlisted(error),
            };
            self.blind = false;
            page.items.into_iter().for_each(|project| self.hire(project.name));
            paging.cursor = page.next;
            if paging.cursor.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn unlisted(&mut self, error: ClientError) -> Result<(), WorkerError> {
        match Reaction::to(&error) {
            Reaction::Again(_) => {
                if !self.blind {
                    tracing::warn!(%error, "the projects cannot be listed; trying again");
                }
                self.blind = true;
                Ok(())
            }
            _ => Err(WorkerError::Unlisted(error)),
        }
    }
}
