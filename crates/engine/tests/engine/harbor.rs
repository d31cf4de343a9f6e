use seaway_engine::{Engine, Notice, Options, ProjectHandle};
use seaway_kernel::{Kernel, Reply, Step};
use seaway_model::{Digest, Name, Outcome};
use seaway_store::Store;
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::requests::{by, claim, ended, name, offered, start, structure};

/// An engine on a store, which is SQLite in a directory of its own unless a test has another.
pub(crate) struct Harbor {
    dir: Option<TempDir>,
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    notices: mpsc::Receiver<Notice>,
}

impl Harbor {
    pub(crate) async fn open() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        Self::at(tempfile::tempdir().expect("a temporary directory"), options).await
    }

    pub(crate) async fn at(dir: TempDir, options: Options) -> Self {
        let store = Store::sqlite(dir.path()).expect("the store opens");
        Self { dir: Some(dir), ..Self::on(store, options).await }
    }

    pub(crate) async fn on(store: Store, options: Options) -> Self {
        for project in ["shop", "bank"] {
            store.create_project(&name(project)).await.expect("the project is made");
        }
        let (effects, notices) = mpsc::channel(10_000);
        let options = Options { effects: Some(effects), ..options };
        Self { dir: None, store: store.clone(), engine: Engine::start(store, options), notices }
    }

    /// Stops everything and starts again on the same directory.
    pub(crate) async fn restart(self) -> Self {
        Self::at(self.close().await, Options::default()).await
    }

    /// Stops everything; the directory stays.
    pub(crate) async fn close(mut self) -> TempDir {
        let dir = self.dir.take().expect("it is on SQLite in a directory of its own");
        self.stop().await;
        dir
    }

    pub(crate) async fn stop(self) {
        let Self { store, engine, notices, .. } = self;
        engine.stop().await;
        drop((store, notices));
    }

    pub(crate) fn shop(&self) -> ProjectHandle {
        self.engine.project(&name("shop"))
    }

    pub(crate) async fn digest(&self, project: &Name) -> Digest {
        self.engine.project(project).inspect(Kernel::digest).await.expect("it can be looked at")
    }

    pub(crate) async fn define(&self) {
        self.shop().send(structure(), by()).await.expect("the structure is sound");
    }

    /// Starts a deployment and gives its first task.
    pub(crate) async fn start(&mut self, number: u128) -> Step {
        self.shop().send(start(number), by()).await.expect("it can be started");
        self.offer().await
    }

    /// The next task that is offered.
    pub(crate) async fn offer(&mut self) -> Step {
        loop {
            let notice = self.notices.recv().await.expect("the engine runs");
            if let Some(step) = offered(&notice.effect) {
                return step;
            }
        }
    }

    /// Takes a task and ends it.
    pub(crate) async fn work(&self, step: Step, outcome: Outcome) {
        let Ok(Reply::Claimed { step, fence, .. }) = self.shop().send(claim(step), by()).await
        else {
            panic!("an offered task can be claimed");
        };
        let answer = ended(step, fence, outcome);
        self.shop().send(answer, by()).await.expect("the holder's answer counts");
    }
}

/// Asks until something holds. Every question goes to the engine or the store, so that their
/// threads get their time.
pub(crate) async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..200_000 {
        if let Some(found) = ask().await {
            return found;
        }
        tokio::task::yield_now().await;
    }
    panic!("{what} did not happen");
}
