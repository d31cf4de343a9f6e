use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use seaway_engine::{Engine, ProjectHandle};
use seaway_model::Name;
use seaway_outbound::Outbound;
use seaway_store::{Store, StoreError};
use seaway_vault::Vault;
use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore, watch};
use tokio::time::Instant;

use crate::auth::Tokens;
use crate::bodies::Bodies;
use crate::follow::Notices;
use crate::gate::Gate;
use crate::metrics::Metrics;
use crate::problem::Failure;
use crate::replica::{Forwarder, Ownership, Whereabouts};
use crate::settings::Settings;

/// What it takes to be one of several servers.
#[derive(Debug)]
pub(crate) struct Replicas {
    pub(crate) ownership: Ownership,
    pub(crate) forwarder: Forwarder,
}

/// How long counts of the store are good: anybody may ask for them.
const COUNTED: Duration = Duration::from_secs(5);

/// Streams at the same time: each reads from the store.
const MAX_STREAMS: usize = 1_000;

/// What every handler works with.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    pub(crate) tokens: Tokens,
    pub(crate) metrics: Metrics,
    pub(crate) settings: Settings,
    pub(crate) gate: Gate,
    pub(crate) bodies: Bodies,
    /// Streams that may be opened still.
    pub(crate) streams: Arc<Semaphore>,
    /// Where several servers share one database.
    pub(crate) replicas: Option<Replicas>,
    /// The one way out.
    pub(crate) outbound: Outbound,
    pub(crate) vault: Arc<Vault>,
    /// The right to make a key where there is none.
    pub(crate) keys: Mutex<()>,
    /// Whose documents may have changed.
    pub(crate) notices: Notices,
    /// Whether the server stops: whatever waits for something should end.
    pub(crate) stopping: watch::Sender<bool>,
    /// When the store was last counted for the metrics.
    counted: Mutex<Option<Instant>>,
    /// Projects that exist, each with the right to change its documents. They never go away.
    known: RwLock<BTreeMap<Name, Arc<Mutex<()>>>>,
}

impl App {
    pub(crate) fn new(
        store: Store,
        engine: Engine,
        settings: Settings,
        replicas: Option<Replicas>,
        vault: Vault,
    ) -> Arc<Self> {
        Arc::new(Self {
            tokens: Tokens::new(store.clone()),
            store,
            engine,
            metrics: Metrics::default(),
            outbound: Outbound::new(settings.outbound.clone()),
            bodies: Bodies::new(settings.bodies),
            settings,
            gate: Gate::default(),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            replicas,
            vault: Arc::new(vault),
            keys: Mutex::default(),
            notices: Notices::default(),
            stopping: watch::Sender::new(false),
            counted: Mutex::default(),
            known: RwLock::default(),
        })
    }

    /// A project that exists.
    pub(crate) async fn project(&self, name: &str) -> Result<ProjectHandle, Failure> {
        let Ok(name) = Name::new(name) else { return Err(Failure::unknown_project(name)) };
        if !self.is_known(&name) {
            self.store.head(&name).await?;
            self.note(&name);
        }
        Ok(self.engine.project(&name))
    }

    /// The address of the server that a project has to be asked at, if it is not this one. A
    /// project that nobody owns is opened here.
    pub(crate) async fn elsewhere(
        &self,
        project: &str,
        forwarded: bool,
    ) -> Result<Option<Box<str>>, Failure> {
        let (Some(replicas), Ok(name)) = (&self.replicas, Name::new(project)) else {
            return Ok(None);
        };
        if self.engine.has(&name) {
            return Ok(None);
        }
        let moving = || {
            let detail = "the project is moving from one server to another; send it again";
            Failure::unavailable("not-owner", detail)
        };
        match replicas.ownership.find(&name).await {
            Ok(Whereabouts::Here) => {
                drop(self.engine.reopen(&name));
                Ok(None)
            }
            Ok(Whereabouts::At(address)) if !forwarded => Ok(Some(address)),
            Ok(Whereabouts::At(_) | Whereabouts::Unreachable) => Err(moving()),
            // Whether it may be made is for the handler to say.
            Err(StoreError::UnknownProject(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Brings what is counted up to date, unless that was done a moment ago.
    pub(crate) async fn count(&self) {
        let mut counted = self.counted.lock().await;
        if counted.is_some_and(|at| at.elapsed() < COUNTED) {
            return;
        }
        match self.store.figures().await {
            Ok(figures) => self.metrics.figures(figures),
            Err(error) => tracing::warn!(%error, "what the store holds could not be counted"),
        }
        *counted = Some(Instant::now());
    }

    /// Waits until the server stops.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.subscribe();
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    fn is_known(&self, name: &Name) -> bool {
        self.known.read().unwrap_or_else(PoisonError::into_inner).contains_key(name)
    }

    pub(crate) fn note(&self, name: &Name) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(name.clone()).or_default();
    }

    /// The right to change the documents of a project: what is changed follows from what is there,
    /// so that only one at a time may look and then change.
    pub(crate) async fn change(&self, name: &Name) -> Changing<'_> {
        let mutex = {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            known.entry(name.clone()).or_default().clone()
        };
        let alone = mutex.lock_owned().await;
        Changing { notices: &self.notices, project: name.clone(), _alone: alone }
    }
}

/// The right to change the documents of a project. Whoever follows them looks when it is over.
#[derive(Debug)]
pub(crate) struct Changing<'a> {
    notices: &'a Notices,
    project: Name,
    _alone: OwnedMutexGuard<()>,
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.notices.leave(self.project.clone());
    }
}
