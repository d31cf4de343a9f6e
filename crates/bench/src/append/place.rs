use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};
use seaway_store::Store;
use tempfile::TempDir;
use tokio_postgres::NoTls;

use crate::disk;

/// Which database is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    Sqlite,
    Postgres,
}

impl Backend {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// An empty database for one run.
#[derive(Debug)]
pub(super) enum Place {
    Directory(TempDir),
    Database { server: String, name: String },
}

/// Where the throw-away server is.
const VARIABLE: &str = "SEAWAY_TEST_POSTGRES";

/// The server, if there is one.
pub(super) fn postgres_url() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|url| !url.is_empty())
}

impl Place {
    pub(super) async fn new(backend: Backend) -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        match backend {
            Backend::Sqlite => Ok(Self::Directory(disk::directory()?)),
            Backend::Postgres => {
                let url = postgres_url().with_context(|| format!("{VARIABLE} is not set"))?;
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                let name = format!("seaway_bench_{}_{number}", std::process::id());
                execute(&url, &format!("CREATE DATABASE {name}")).await?;
                Ok(Self::Database { server: url, name })
            }
        }
    }

    pub(super) async fn store(&self) -> Result<Store> {
        match self {
            Self::Directory(dir) => Ok(Store::sqlite(dir.path())?),
            Self::Database { server, name } => Ok(Store::postgres(&url(server, name)).await?),
        }
    }

    /// How the database is addressed: its file, or its URL.
    pub(super) fn address(&self) -> String {
        match self {
            Self::Directory(dir) => dir.path().join("seaway.db").display().to_string(),
            Self::Database { server, name } => url(server, name),
        }
    }

    pub(super) async fn remove(self) -> Result<()> {
        match self {
            Self::Directory(dir) => dir.close().context("removing a database"),
            Self::Database { server, name } => {
                execute(&server, &format!("DROP DATABASE {name} WITH (FORCE)")).await
            }
        }
    }
}

fn url(server: &str, database: &str) -> String {
    let host = server.rsplit_once('/').map_or(server, |(host, _)| host);
    format!("{host}/{database}")
}

async fn execute(url: &str, sql: &str) -> Result<()> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await?;
    drop(client);
    connection.await.context("the connection panicked")?.context("closing the connection")
}
