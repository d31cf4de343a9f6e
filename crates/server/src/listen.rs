use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::settings::{Settings, Tls};

/// Why nobody can connect.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error(
        "{address} is in use already; stop the other process, or choose another address with \
         --listen"
    )]
    InUse { address: SocketAddr },
    #[error("{address} cannot be listened on; choose another address with --listen")]
    Failed { address: SocketAddr, source: io::Error },
    #[error("{} cannot be used for TLS: {why}", path.display())]
    Tls { path: PathBuf, why: String },
}

/// The door: connections come in through it, with or without TLS.
pub(crate) struct Listener {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    address: SocketAddr,
    connections: Arc<Semaphore>,
    drain: Duration,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("address", &self.address).finish_non_exhaustive()
    }
}

/// How long a client may take to send the head of a request, and to agree on TLS.
const PATIENCE: Duration = Duration::from_secs(30);

impl Listener {
    pub(crate) async fn bind(settings: &Settings) -> Result<Self, ListenError> {
        let address = settings.listen;
        let listener = TcpListener::bind(address).await.map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => ListenError::InUse { address },
            _ => ListenError::Failed { address, source },
        })?;
        let address =
            listener.local_addr().map_err(|source| ListenError::Failed { address, source })?;
        let tls = settings.tls.as_ref().map(acceptor).transpose()?;
        let connections = Arc::new(Semaphore::new(settings.connections));
        Ok(Self { listener, tls, address, connections, drain: settings.drain })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts until it is asked to stop, then waits for open requests, but not for ever.
    pub(crate) async fn serve(&self, router: Router, mut stop: watch::Receiver<bool>) {
        let graceful = GracefulShutdown::new();
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(PATIENCE);
        builder.http2().timer(TokioTimer::new()).max_concurrent_streams(200);
        loop {
            let accepted = tokio::select! {
                accepted = self.accept() => accepted,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            let (stream, room) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    // Out of file descriptors: wait until some are free again.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let _ = stream.set_nodelay(true);
            let service = TowerToHyperService::new(router.clone());
            let (builder, watcher, tls) = (builder.clone(), graceful.watcher(), self.tls.clone());
            tokio::spawn(async move {
                let _room = room;
                match tls {
                    None => {
                        let served = builder.serve_connection(TokioIo::new(stream), service);
                        // A client that goes away in the middle is not worth a line.
                        let _ = watcher.watch(served.into_owned()).await;
                    }
                    Some(tls) => {
                        let Some(stream) = agree(&tls, stream).await else { return };
                        let served = builder.serve_connection(TokioIo::new(stream), service);
                        let _ = watcher.watch(served.into_owned()).await;
                    }
                }
            });
        }
        if tokio::time::timeout(self.drain, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests did not end in time and were cut off");
        }
    }

    /// The next connection, once there is room for it.
    async fn accept(&self) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
        let room = self.connections.clone().acquire_owned().await.map_err(io::Error::other)?;
        let (stream, _) = self.listener.accept().await?;
        Ok((stream, room))
    }
}

async fn agree(
    tls: &TlsAcceptor,
    stream: TcpStream,
) -> Option<tokio_rustls::server::TlsStream<TcpStream>> {
    match tokio::time::timeout(PATIENCE, tls.accept(stream)).await {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err(error)) => {
            tracing::debug!(%error, "a client did not agree on TLS");
            None
        }
        Err(_) => None,
    }
}

fn acceptor(files: &Tls) -> Result<TlsAcceptor, ListenError> {
    let bad = |path: &PathBuf, why: String| ListenError::Tls { path: path.clone(), why };
    let certificates = CertificateDer::pem_file_iter(&files.certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| bad(&files.certificates, error.to_string()))?;
    if certificates.is_empty() {
        return Err(bad(&files.certificates, "it holds no certificate".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| bad(&files.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| bad(&files.key, error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|error| bad(&files.key, error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
