use std::path::Path;

use anyhow::{Context, Result, anyhow};
use seaway_client::{Client, Options};
use seaway_executor::{Definitions, Stop, Worker, WorkerOptions};
use seaway_server::{Server, Settings};
use seaway_store::Store;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A server and a worker, as they run everywhere, in this process.
#[derive(Debug)]
pub(super) struct Harbor {
    pub(super) client: Client,
    pub(super) url: String,
    server: JoinHandle<Result<()>>,
    stop_server: watch::Sender<bool>,
    worker: JoinHandle<Result<()>>,
    stop_worker: watch::Sender<Stop>,
}

impl Harbor {
    pub(super) async fn open(data: &Path, definitions: &Path) -> Result<Self> {
        let store = Store::sqlite(data)?;
        let listen = "127.0.0.1:0".parse().expect("it is an address");
        let server = Server::start(store, Settings::new(data.to_owned(), listen)).await?;
        let url = format!("http://{}", server.address());
        let (stop_server, stopped) = watch::channel(false);
        let server = tokio::spawn(async move { Ok(server.run(stopped).await?) });
        let token = std::fs::read_to_string(data.join("admin.token"))
            .context("the admin token cannot be read")?;
        let client = Client::new(&url, Some(token.trim()), Options::default())?;
        let definitions = Definitions::load(&[definitions.to_owned()])?;
        let worker = Worker::new(client.clone(), WorkerOptions::new(definitions));
        let (stop_worker, stopped) = watch::channel(Stop::No);
        let worker = tokio::spawn(async move { Ok(worker.run(stopped).await.map(drop)?) });
        Ok(Self { client, url, server, stop_server, worker, stop_worker })
    }

    /// Waits for what should not happen before [`close`](Self::close): an end by itself.
    pub(super) async fn failed(&mut self) -> anyhow::Error {
        let (who, ended) = tokio::select! {
            ended = &mut self.server => ("server", ended),
            ended = &mut self.worker => ("worker", ended),
        };
        match ended {
            Ok(Err(error)) => error.context(format!("the {who} of the demo ended")),
            Ok(Ok(())) => anyhow!("the {who} of the demo ended"),
            Err(panic) => anyhow!("the {who} of the demo ended: {panic}"),
        }
    }

    /// Stops both; nothing that they started goes on.
    pub(super) async fn close(self) {
        self.stop_worker.send_replace(Stop::Now);
        // How they end was of interest only before.
        drop(self.worker.await);
        self.stop_server.send_replace(true);
        drop(self.server.await);
    }
}
