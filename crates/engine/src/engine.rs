use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use seaway_kernel::Effect;
use seaway_model::{Name, Seq, Span};
use seaway_store::{Store, StoreError};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::checkpoints::{self, Due};
use crate::core::{Limits, Obstacle, RequestError};
use crate::handle::ProjectHandle;
use crate::leases;
use crate::loading::ReadError;
use crate::project::{Ends, ProjectTask};

/// An effect, and the project it is of.
///
/// A notice is a hint. What is runnable is derived from the log, so one that is lost because nobody
/// took it in time delays work and loses none: whoever runs tasks also asks for them now and then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub project: Arc<Name>,
    pub effect: Effect,
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Who takes ownership of projects: the name of this server.
    pub owner: Box<str>,
    /// Several processes share the projects of one database: each project is owned for so long,
    /// and then again. None: this process owns whatever it is asked for.
    pub lease: Option<Span>,
    pub limits: Limits,
    /// A checkpoint is written every so many records.
    pub checkpoint_every: u64,
    /// A project that was not used for so long leaves memory, unless it waits for a lease to end.
    pub idle_after: Duration,
    /// How long to wait after the first and after many failures in a row.
    pub backoff: (Duration, Duration),
    /// Where effects go. A full channel drops them; see [`Notice`].
    pub effects: Option<mpsc::Sender<Notice>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            owner: "seaway".into(),
            lease: None,
            limits: Limits::default(),
            checkpoint_every: 50_000,
            idle_after: Duration::from_secs(300),
            backoff: (Duration::from_millis(100), Duration::from_secs(10)),
            effects: None,
        }
    }
}

/// What all projects share.
pub(crate) struct Context {
    pub(crate) store: Store,
    pub(crate) options: Options,
    pub(crate) checkpoints: mpsc::Sender<Due>,
    /// Why the store takes no more writes, once it failed.
    pub(crate) store_failed: watch::Sender<Option<Arc<str>>>,
    /// Until when leases are held for sure; `None` where there are none.
    pub(crate) held_until: watch::Sender<Option<Instant>>,
    /// Whether the engine stops.
    pub(crate) stop: watch::Receiver<bool>,
    started: Instant,
}

impl Context {
    /// A reading of the monotonic clock.
    pub(crate) fn monotonic(&self) -> Span {
        let micros = self.started.elapsed().as_micros();
        Span(i64::try_from(micros).expect("no process runs for 292,000 years"))
    }

    /// What a caller is told when the store did not answer.
    pub(crate) fn declined(&self, error: &StoreError) -> RequestError {
        let retry_after = self.options.limits.retry_after;
        match error {
            StoreError::DiskFull => {
                RequestError::NotWritten { why: Obstacle::DiskFull, retry_after }
            }
            StoreError::Unavailable(_) => {
                RequestError::NotWritten { why: Obstacle::Unavailable, retry_after }
            }
            other => RequestError::Broken(chain(other).into()),
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("options", &self.options).finish_non_exhaustive()
    }
}

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// All projects of one process.
#[derive(Debug)]
pub struct Engine {
    context: Arc<Context>,
    stop: watch::Sender<bool>,
    projects: Arc<Projects>,
    /// What runs beside the projects, until the engine stops.
    beside: Mutex<Vec<JoinHandle<()>>>,
}

pub(crate) type Projects = Mutex<BTreeMap<Name, Slot>>;

#[derive(Debug)]
pub(crate) struct Slot {
    handle: ProjectHandle,
    task: JoinHandle<()>,
    /// Since when it is leased.
    pub(crate) leased: Arc<OnceLock<Instant>>,
    /// Ends it, because the lease is lost.
    pub(crate) revoke: watch::Sender<bool>,
}

impl Engine {
    /// Must be called inside a tokio runtime. Nothing is loaded before it is asked for.
    #[must_use]
    pub fn start(store: Store, options: Options) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (due, dues) = mpsc::channel(64);
        let context = Arc::new(Context {
            store: store.clone(),
            options,
            checkpoints: due,
            store_failed: watch::Sender::new(None),
            held_until: watch::Sender::new(None),
            stop: stopped.clone(),
            started: Instant::now(),
        });
        let checkpoints = tokio::spawn(checkpoints::keep(store, dues, stopped.clone()));
        let projects = Arc::new(Projects::default());
        let leases = context.options.lease.map(|ttl| {
            let until = Instant::now() + Duration::from_micros(ttl.0.unsigned_abs());
            context.held_until.send_replace(Some(until));
            tokio::spawn(leases::keep(context.clone(), ttl, projects.clone(), stopped))
        });
        let beside = Mutex::new([checkpoints].into_iter().chain(leases).collect());
        Self { context, stop, projects, beside }
    }

    /// The project, which begins to load if it is asked for the first time. It must exist in the
    /// store. A project that broke, or went to another owner, stays so until it is
    /// [reopened](Self::reopen).
    #[must_use]
    pub fn project(&self, name: &Name) -> ProjectHandle {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = projects.get(name) {
            return slot.handle.clone();
        }
        let slot = self.open(name);
        let handle = slot.handle.clone();
        projects.insert(name.clone(), slot);
        handle
    }

    /// The project again, after it broke or went to another owner: takes ownership back.
    #[must_use]
    pub fn reopen(&self, name: &Name) -> ProjectHandle {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if projects.get(name).is_some_and(|slot| slot.handle.ended.get().is_some()) {
            projects.remove(name);
        }
        drop(projects);
        self.project(name)
    }

    /// The project from its log again, because that was changed beside it, such as by an archive.
    /// Whoever waits for an answer is told to ask again.
    pub async fn reload(&self, name: &Name) -> ProjectHandle {
        let slot = {
            let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
            projects.remove(name)
        };
        if let Some(slot) = slot {
            slot.revoke.send_replace(true);
            if let Err(error) = slot.task.await {
                tracing::error!(project = %name, %error, "its task did not end well");
            }
        }
        self.project(name)
    }

    /// Writes a checkpoint of a project as it is now, whether or not one is due.
    pub async fn checkpoint(&self, name: &Name) -> Result<(), RequestError> {
        checkpoints::write(&self.context.store, name).await.map_err(|error| match &error {
            ReadError::Store(error) => self.context.declined(error),
            _ => RequestError::Broken(chain(&error).into()),
        })
    }

    fn open(&self, name: &Name) -> Slot {
        let (mailbox, inbox) = mpsc::channel(self.context.options.limits.mailbox);
        let (head, heads) = watch::channel(Seq(0));
        let handle = ProjectHandle {
            project: Arc::new(name.clone()),
            context: self.context.clone(),
            mailbox,
            budget: Arc::new(Semaphore::new(self.context.options.limits.bytes)),
            head: heads,
            ended: Arc::new(OnceLock::new()),
        };
        let (revoke, revoked) = watch::channel(false);
        let ends = Ends { stop: self.stop.subscribe(), revoked };
        let task = ProjectTask::new(&handle, inbox, head, ends);
        let (ended, leased) = (handle.ended.clone(), task.leased.clone());
        Slot { handle, task: tokio::spawn(task.run(ended)), leased, revoke }
    }

    /// Whether the project is in this process, and not ended.
    #[must_use]
    pub fn has(&self, name: &Name) -> bool {
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.get(name).is_some_and(|slot| slot.handle.ended.get().is_none())
    }

    /// How many projects are in this process.
    #[must_use]
    pub fn projects(&self) -> usize {
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.values().filter(|slot| slot.handle.ended.get().is_none()).count()
    }

    /// Waits until the store has failed for good and says why. The process should end then: a
    /// failed sync is never tried again, because nobody knows what is on the disk.
    pub async fn store_failed(&self) -> Arc<str> {
        let mut failed = self.context.store_failed.subscribe();
        let reason = failed.wait_for(Option::is_some).await;
        let reason = reason.expect("the context holds the sender");
        reason.clone().expect("waited until there is one")
    }

    /// Accepts no more requests, answers those that were accepted, and ends every task. Handles
    /// that are left refuse everything; the store closes when the last of them is gone.
    pub async fn stop(&self) {
        self.stop.send_replace(true);
        let projects = {
            let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *projects)
        };
        for (name, slot) in projects {
            if let Err(error) = slot.task.await {
                tracing::error!(project = %name, %error, "its task did not end well");
            }
        }
        let beside = {
            let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *beside)
        };
        for task in beside {
            if let Err(error) = task.await {
                tracing::error!(%error, "a task beside the projects did not end well");
            }
        }
        if self.context.options.lease.is_some() {
            // Others need not wait until the leases run out.
            let released = self.context.store.release_all(&self.context.options.owner).await;
            if let Err(error) = released {
                tracing::warn!(%error, "projects could not be given back");
            }
        }
    }
}
