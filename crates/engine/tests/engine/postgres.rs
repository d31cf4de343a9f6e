use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use seaway_engine::{Options, ProjectHandle, RequestError};
use seaway_kernel::Kernel;
use seaway_store::Store;
use tokio_postgres::{Client, NoTls};

use crate::harbor::{Harbor, eventually};
use crate::requests::{by, deployment, name, start};

const SERVER: &str = "SEAWAY_TEST_POSTGRES";

/// Says so even when the output of tests that pass is not shown.
pub(crate) fn skipped(what: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}

/// The address of an empty database, on the server that the environment names.
pub(crate) async fn database(test: &str) -> Option<String> {
    let Ok(server) = std::env::var(SERVER) else {
        skipped(&format!("{test} on PostgreSQL; set {SERVER}=postgres://… to run it"));
        return None;
    };
    let admin = client(&server).await;
    let database = format!("engine_{test}");
    for sql in [
        format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"),
        format!("CREATE DATABASE {database}"),
    ] {
        admin.batch_execute(&sql).await.expect("databases can be made");
    }
    let (server, query) = match server.split_once('?') {
        Some((server, query)) => (server, format!("?{query}")),
        None => (&*server, String::new()),
    };
    let (base, _) = server.rsplit_once('/').expect("the address names a database");
    Some(format!("{base}/{database}{query}"))
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("it answers");
    tokio::spawn(connection);
    client
}

/// An engine of its own, which soon tries again what failed.
pub(crate) async fn harbor(url: &str, owner: &str) -> Harbor {
    let backoff = (Duration::from_millis(1), Duration::from_millis(20));
    let options = Options { owner: owner.into(), backoff, ..Options::default() };
    Harbor::on(Store::postgres(url).await.expect("it opens"), options).await
}

const CUT: &str = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()";

/// Starts deployments until it is told to stop, and gives those that were granted.
async fn call(shop: ProjectHandle, numbers: Arc<AtomicU64>, progress: Arc<Progress>) -> Vec<u128> {
    let mut granted = Vec::new();
    while !progress.done.load(Ordering::SeqCst) {
        let number = u128::from(numbers.fetch_add(1, Ordering::SeqCst));
        match shop.send(start(number), by()).await {
            Ok(_) => {
                granted.push(number);
                progress.granted.fetch_add(1, Ordering::SeqCst);
            }
            Err(RequestError::Unknown) => {
                progress.unknown.fetch_add(1, Ordering::SeqCst);
            }
            Err(RequestError::NotWritten { .. } | RequestError::StaleLookup) => {}
            Err(other) => panic!("{number} was told {other:?}"),
        }
    }
    granted
}

#[derive(Default)]
struct Progress {
    granted: AtomicU64,
    unknown: AtomicU64,
    done: AtomicBool,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_recovers_from_connections_that_are_cut_and_loses_nothing_granted() {
    let Some(url) = database("cut_connections").await else { return };
    let harbor = harbor(&url, "one").await;
    harbor.define().await;
    let (numbers, progress) = (Arc::new(AtomicU64::new(1)), Arc::new(Progress::default()));
    let callers: Vec<_> = (0..8)
        .map(|_| tokio::spawn(call(harbor.shop(), numbers.clone(), progress.clone())))
        .collect();
    let admin = client(&url).await;
    // Each cut comes when the one before it was survived.
    for _ in 0..10 {
        let before = progress.granted.load(Ordering::SeqCst);
        admin.query(CUT, &[]).await.expect("connections can be cut");
        eventually("progress after a cut", async || {
            admin.query("SELECT 1", &[]).await.expect("the server answers");
            (progress.granted.load(Ordering::SeqCst) > before + 20).then_some(())
        })
        .await;
    }
    eventually("an append that was cut off", async || {
        admin.query(CUT, &[]).await.expect("connections can be cut");
        (progress.unknown.load(Ordering::SeqCst) > 0).then_some(())
    })
    .await;
    progress.done.store(true, Ordering::SeqCst);
    let mut granted = Vec::new();
    for caller in callers {
        granted.extend(caller.await.expect("it does not panic"));
    }
    let inspected = async || harbor.shop().inspect(Kernel::digest).await.ok();
    let digest = eventually("recovery", inspected).await;
    harbor.stop().await;

    let harbor = self::harbor(&url, "two").await;
    assert_eq!(harbor.digest(&name("shop")).await, digest);
    harbor.store.verify(&name("shop"), |_| ()).await.expect("the log is sound");
    for number in granted {
        let found = harbor.store.deployment(&name("shop"), deployment(number)).await;
        assert!(found.expect("it can be asked").is_some(), "{number} was granted");
    }
    harbor.stop().await;
}
