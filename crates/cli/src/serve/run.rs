use anyhow::{Context, Result};
use seaway_server::{Otlp, Server, Settings, Shared, Tls};
use seaway_store::Store;
use tokio::sync::watch;

use super::args::ServeArgs;
use super::beside::{self, Beside};
use super::logging;
use crate::out::aside;
use crate::signals::Signals;

/// Serves until a signal asks it to stop.
pub(crate) async fn run(args: ServeArgs) -> Result<()> {
    logging::start(args.log_format);
    let definitions = beside::definitions(&args.with_worker)?;
    let mut signals = Signals::listen()?;
    let unusable = || {
        let dir = args.data.display();
        format!("the data directory {dir} cannot be used; choose another one with --data")
    };
    std::fs::create_dir_all(&args.data).with_context(unusable)?;
    let store = match &args.database_url {
        Some(url) => Store::postgres(url).await?,
        None => Store::sqlite(&args.data)?,
    };
    let mut settings = Settings::new(args.data.clone(), args.listen);
    settings.tls =
        args.tls_cert.zip(args.tls_key).map(|(certificates, key)| Tls { certificates, key });
    settings.outbound = args.allow_outbound.into_iter().collect();
    settings.vault_key = args.vault_key_file;
    // A variable that is empty counts as not there.
    let endpoint = args.otlp_endpoint.as_deref().filter(|it| !it.is_empty());
    settings.otlp = endpoint.map(otlp).transpose()?;
    if args.database_url.is_some() {
        settings.replica = replica();
        let advertise = args.advertise.filter(|it| !it.is_empty());
        settings.shared = Some(Shared { advertise });
    }
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let server = Server::start(store, settings).await?;
    if let Some(path) = server.new_token() {
        aside(format_args!("the admin token is in {}", path.display()));
    }
    aside(format_args!("listening on {scheme}://{}", server.address()));
    let url = format!("{scheme}://{}", server.address());
    let worker = definitions.map(|it| Beside::start(&url, &args.data, it)).transpose()?;
    let (stop, stopped) = watch::channel(false);
    let mut running = std::pin::pin!(server.run(stopped));
    tokio::select! {
        ended = &mut running => return Ok(ended?),
        _ = signals.any() => {}
    }
    aside("stopping; open requests are answered first");
    let drained = async {
        if let Some(worker) = worker {
            worker.stop().await;
        }
    };
    tokio::select! {
        ended = &mut running => return Ok(ended?),
        () = drained => {}
        _ = signals.any() => {}
    }
    stop.send_replace(true);
    Ok(running.await?)
}

/// Headers often hold secrets, which do not belong on a command line.
fn otlp(endpoint: &str) -> Result<Otlp> {
    let headers = std::env::var("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
    Ok(Otlp::new(endpoint, &headers)?)
}

/// A name that no other run of a server has.
#[expect(clippy::disallowed_methods, reason = "the name of a process is made where it starts")]
fn replica() -> Box<str> {
    uuid::Uuid::now_v7().to_string().into()
}
