use std::io::Write;
use std::path::Path;

use seaway_model::Epoch;
use seaway_store::Store;
use tempfile::TempDir;
use tokio_postgres::NoTls;

use crate::builder::{Builder, name};

const POSTGRES: &str = "SEAWAY_TEST_POSTGRES";

/// Somewhere to keep a store for one test, with a back door that changes it behind its back.
pub(crate) enum Place {
    Sqlite(TempDir),
    Postgres(String),
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// A database of its own, on the server that the environment names.
    pub(crate) async fn postgres(test: &str) -> Option<Self> {
        let Ok(server) = std::env::var(POSTGRES) else {
            skipped(&format!("{test} on PostgreSQL; set {POSTGRES}=postgres://… to run it"));
            return None;
        };
        let database: String = format!("t_{test}").chars().take(63).collect();
        let admin = client(&server).await;
        admin
            .execute(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"), &[])
            .await
            .unwrap();
        admin.execute(&format!("CREATE DATABASE {database}"), &[]).await.unwrap();
        let (server, query) = match server.split_once('?') {
            Some((server, query)) => (server, format!("?{query}")),
            None => (&*server, String::new()),
        };
        let base = server.rsplit_once('/').unwrap().0;
        Some(Self::Postgres(format!("{base}/{database}{query}")))
    }

    pub(crate) async fn open(&self) -> Store {
        match self {
            Self::Sqlite(dir) => Store::sqlite(dir.path()).unwrap(),
            Self::Postgres(url) => Store::postgres(url).await.unwrap(),
        }
    }

    /// Another process's view of the store. Where there is one process only, it is the same one.
    pub(crate) async fn beside(&self, store: &Store) -> Store {
        match self {
            Self::Sqlite(_) => store.clone(),
            Self::Postgres(url) => Store::postgres(url).await.unwrap(),
        }
    }

    /// A store with the project `shop`, owned, and the builder of its log.
    pub(crate) async fn shop(&self) -> (Store, Builder) {
        let store = self.open().await;
        store.create_project(&name("shop")).await.unwrap();
        let epoch = store.acquire(&name("shop"), "test").await.unwrap();
        assert_eq!(epoch, Epoch(1));
        (store, Builder::new("shop", epoch))
    }

    /// The first value of an answer, as a person with an SQL shell would get it.
    pub(crate) async fn ask(&self, sql: &str) -> String {
        match self {
            Self::Sqlite(dir) => {
                let connection = rusqlite::Connection::open(dir.path().join("seaway.db")).unwrap();
                connection.query_row(sql, (), |row| row.get(0)).unwrap()
            }
            Self::Postgres(url) => client(url).await.query_one(sql, &[]).await.unwrap().get(0),
        }
    }

    pub(crate) async fn tamper(&self, sql: &str) {
        match self {
            Self::Sqlite(dir) => tamper_sqlite(dir.path(), sql),
            Self::Postgres(url) => client(url).await.batch_execute(sql).await.unwrap(),
        }
    }
}

pub(crate) fn tamper_sqlite(dir: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(dir.join("seaway.db")).unwrap();
    connection.execute_batch(sql).unwrap();
}

pub(crate) async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Says so even when the output of tests that pass is not shown.
pub(crate) fn skipped(what: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}
