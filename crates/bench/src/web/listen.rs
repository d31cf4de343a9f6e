use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Answers requests until the process is told to end. Says where, in the words of the real server,
/// and speaks HTTP with the settings of that.
pub(crate) async fn listen(router: Router) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("opening a port")?;
    let address = listener.local_addr().context("opening a port")?;
    let mut stop = signal(SignalKind::terminate()).context("watching for signals")?;
    eprintln!("listening on http://{address}");
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted.context("accepting a connection")?.0,
            _ = stop.recv() => return Ok(()),
        };
        stream.set_nodelay(true).context("setting up a connection")?;
        let service = TowerToHyperService::new(router.clone());
        let builder = builder.clone();
        tokio::spawn(async move {
            // A client that goes away in the middle of something is of no interest.
            drop(builder.serve_connection(TokioIo::new(stream), service).await);
        });
    }
}
