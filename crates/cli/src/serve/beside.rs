use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use seaway_client::{Client, Options};
use seaway_executor::{Definitions, Stop, Worker, WorkerOptions};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A worker in the process of the server, which it reaches like any other.
#[derive(Debug)]
pub(super) struct Beside {
    task: JoinHandle<()>,
    stop: watch::Sender<Stop>,
}

/// Reads what the worker does, before anything is started.
pub(super) fn definitions(paths: &[PathBuf]) -> Result<Option<Definitions>> {
    if paths.is_empty() {
        return Ok(None);
    }
    Definitions::load(paths).map(Some).map_err(|error| anyhow!("{}", error.plain().trim_end()))
}

impl Beside {
    pub(super) fn start(url: &str, data: &Path, definitions: Definitions) -> Result<Self> {
        let path = data.join("admin.token");
        let token = std::fs::read_to_string(&path).with_context(|| {
            let path = path.display();
            format!("the worker needs {path}; without it, run `seaway worker` with a token")
        })?;
        let client = Client::new(url, Some(token.trim()), Options::default())?;
        let worker = Worker::new(client, WorkerOptions::new(definitions));
        let (stop, stopping) = watch::channel(Stop::No);
        let task = tokio::spawn(async move {
            if let Err(error) = worker.run(stopping).await {
                tracing::error!(%error, "the worker ended");
            }
        });
        Ok(Self { task, stop })
    }

    /// Lets what runs come to its end, as long as the worker has patience.
    pub(super) async fn stop(self) {
        self.stop.send_replace(Stop::Drain);
        // It has said what went wrong.
        let _ = self.task.await;
    }
}
