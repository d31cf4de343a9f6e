use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use seaway_engine::{Engine, Options};
use seaway_model::Span;
use seaway_store::{Store, StoreError};
use seaway_vault::{Key, KeyError, Vault};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::{App, Replicas};
use crate::auth::{AdminTokenError, ensure_admin_token};
use crate::follow::follow_projects;
use crate::forgetting::forget;
use crate::listen::{ListenError, Listener};
use crate::replica::{Forwarder, Ownership, take_over};
use crate::settings::Settings;
use crate::table::Table;
use crate::trace::Exporter;

/// How long a project belongs to a server that does not say anything.
const LEASE: Span = Span::from_secs(5);

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    AdminToken(#[from] AdminTokenError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "--listen {address} is no address at which other servers on the database reach this one; \
         name one that they do, such as --advertise http://10.0.0.5:{}, or listen on it",
         address.port()
    )]
    NotReachable { address: SocketAddr },
    #[error("the client that passes requests on to other servers cannot be set up")]
    Forwarding(#[source] reqwest::Error),
    #[error(transparent)]
    VaultKey(#[from] KeyError),
    #[error("the client that sends traces cannot be set up")]
    Tracing(#[source] reqwest::Error),
    #[error("the store failed, and what is on the disk is not known: {0}; start it again")]
    StoreFailed(Arc<str>),
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    app: Arc<App>,
    /// Where the admin token was written, if that was now.
    new_token: Option<PathBuf>,
}

impl Server {
    /// Opens the door. Nothing is answered before [`run`](Self::run).
    pub async fn start(store: Store, settings: Settings) -> Result<Self, ServeError> {
        if settings.shared.as_ref().is_some_and(|shared| shared.advertise.is_none()) {
            can_be_reached(settings.listen)?;
        }
        let listener = Listener::bind(&settings).await?;
        let path = settings.data.join("admin.token");
        let new_token = ensure_admin_token(&store, &path).await?;
        let vault = vault(&settings)?;
        let replicas = settings.shared.as_ref().map(|_| replicas(&store, &settings)).transpose()?;
        let lease = replicas.as_ref().map(|_| LEASE);
        let owner = settings.replica.clone();
        let engine = Engine::start(store.clone(), Options { owner, lease, ..Options::default() });
        let app = App::new(store, engine, settings, replicas, vault);
        Ok(Self { listener, app, new_token })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Where the admin token was written, if there was none before.
    #[must_use]
    pub fn new_token(&self) -> Option<&PathBuf> {
        self.new_token.as_ref()
    }

    /// Serves until it is asked to stop; then answers what came before that, and ends.
    pub async fn run(self, mut stop: watch::Receiver<bool>) -> Result<(), ServeError> {
        let (router, _) = Table::new(&self.app).finish();
        let app = &self.app;
        let beside = self.beside()?;
        self.wake_projects().await?;
        let serve = self.listener.serve(router, stop.clone());
        let told = async {
            let _ = stop.wait_for(|stop| *stop).await;
            app.stopping.send_replace(true);
            std::future::pending::<()>().await;
        };
        let failed = tokio::select! {
            () = serve => None,
            () = told => None,
            reason = app.engine.store_failed() => Some(reason),
        };
        app.stopping.send_replace(true);
        app.engine.stop().await;
        for task in beside {
            if let Err(error) = task.await {
                tracing::error!(%error, "a task beside the server did not end well");
            }
        }
        failed.map_or(Ok(()), |reason| Err(ServeError::StoreFailed(reason)))
    }

    /// What runs beside the answering of requests.
    fn beside(&self) -> Result<Vec<JoinHandle<()>>, ServeError> {
        let (settings, stop) = (&self.app.settings, self.app.stopping.subscribe());
        let exporter = settings.otlp.as_ref().map(|it| Exporter::new(it, &settings.replica));
        let exporter = exporter.transpose().map_err(ServeError::Tracing)?.map(Arc::new);
        let followers = follow_projects(self.app.clone(), exporter);
        let forgetting = forget(self.app.clone(), stop.clone());
        let mut tasks = vec![tokio::spawn(followers), tokio::spawn(forgetting)];
        if let Some(shared) = &self.app.settings.shared {
            let scheme = if self.app.settings.tls.is_some() { "https" } else { "http" };
            let own = || format!("{scheme}://{}", self.address());
            let address = shared.advertise.clone().unwrap_or_else(own);
            tasks.push(tokio::spawn(take_over(self.app.clone(), address, stop)));
        }
        Ok(tasks)
    }

    /// Projects that wait for something do so from the start, not from when they are asked for.
    async fn wake_projects(&self) -> Result<(), StoreError> {
        const PAGE: usize = 1_000;
        let mut last = None;
        loop {
            let page = self.app.store.projects(last.as_ref(), PAGE).await?;
            for name in &page {
                drop(self.app.engine.project(name));
                self.app.notices.leave(name.clone());
            }
            let full = page.len() == PAGE;
            last = page.into_iter().next_back();
            if !full {
                return Ok(());
            }
        }
    }
}

/// Whether others can be told the address that a server listens on.
fn can_be_reached(address: SocketAddr) -> Result<(), ServeError> {
    if address.ip().is_unspecified() {
        return Err(ServeError::NotReachable { address });
    }
    if address.ip().is_loopback() {
        // Servers on one machine are fine, and so is one that is alone.
        tracing::warn!(%address, "servers on other machines cannot reach this one; if there are \
            any, use --advertise URL, and --listen on an address that they reach");
    }
    Ok(())
}

fn replicas(store: &Store, settings: &Settings) -> Result<Replicas, ServeError> {
    let forwarder = Forwarder::new(&settings.replica).map_err(ServeError::Forwarding)?;
    let ownership = Ownership::new(store.clone(), settings.replica.clone());
    Ok(Replicas { ownership, forwarder })
}

fn vault(settings: &Settings) -> Result<Vault, KeyError> {
    let key = match &settings.vault_key {
        Some(path) => Key::load(path)?,
        None => Key::load_or_create(&settings.data.join("vault.key"))?,
    };
    Ok(Vault::new(&key))
}
