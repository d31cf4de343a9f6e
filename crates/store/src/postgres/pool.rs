use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row, Statement};

use crate::log_store::{Query, Value};

/// Prepared statements that a connection keeps. Lists have many shapes; the rest is few.
const STATEMENTS: usize = 256;

/// Every question has an index. Without the second setting a plan that was made while the tables
/// were empty would go on reading them from end to end.
const SETTINGS: &str = "SET synchronous_commit = on; SET enable_seqscan = off";

/// What a connection may be used for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    ReadWrite,
    /// The server itself refuses to write.
    ReadOnly,
}

/// A few connections, made when they are first needed and again when they were lost.
#[derive(Debug)]
pub(super) struct Pool {
    config: Config,
    access: Access,
    idle: Mutex<Vec<Session>>,
    turns: Semaphore,
}

/// A connection for one caller. It goes back when the caller is done, unless it was lost. A caller
/// that gives up in the middle leaves it usable: answers that nobody waits for are dropped, and a
/// transaction that nobody ends is rolled back.
#[derive(Debug)]
pub(super) struct Lease<'a> {
    pool: &'a Pool,
    session: Option<Session>,
    _turn: SemaphorePermit<'a>,
}

#[derive(Debug)]
pub(super) struct Session {
    client: Client,
    statements: BTreeMap<Box<str>, Statement>,
}

impl Pool {
    pub(super) fn new(config: Config, access: Access, connections: usize) -> Self {
        Self { config, access, idle: Mutex::default(), turns: Semaphore::new(connections) }
    }

    pub(super) async fn take(&self) -> Result<Lease<'_>, Error> {
        let turn = self.turns.acquire().await.expect("nobody closes the semaphore");
        let pooled = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.retain(|session| !session.client.is_closed());
            idle.pop()
        };
        let session = match pooled {
            Some(session) => session,
            None => Session::connect(&self.config, self.access).await?,
        };
        Ok(Lease { pool: self, session: Some(session), _turn: turn })
    }
}

impl Lease<'_> {
    pub(super) fn session(&mut self) -> &mut Session {
        self.session.as_mut().expect("it is there until the lease is dropped")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take().filter(|session| !session.client.is_closed()) {
            let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(session);
        }
    }
}

impl Session {
    pub(super) async fn connect(config: &Config, access: Access) -> Result<Self, Error> {
        let (client, connection) = config.connect(NoTls).await?;
        // It ends when the client is dropped, and what it finds wrong the client reports too.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(%error, "a connection to PostgreSQL was lost");
            }
        });
        client.batch_execute(SETTINGS).await?;
        if let Access::ReadOnly = access {
            client.batch_execute("SET default_transaction_read_only = on").await?;
        }
        Ok(Self { client, statements: BTreeMap::new() })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// A statement in the common SQL, prepared once per connection.
    pub(super) async fn statement(&mut self, sql: &str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        if self.statements.len() >= STATEMENTS {
            self.statements.clear();
        }
        let statement = self.client.prepare(&sql.replace('?', "$")).await?;
        self.statements.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    pub(super) async fn select(&mut self, query: &Query) -> Result<Vec<Row>, Error> {
        let statement = self.statement(&query.sql).await?;
        self.client.query(&statement, &parameters(&query.values)).await
    }

    /// Runs statements in one transaction and gives the first number that the last one returns.
    pub(super) async fn write(&mut self, queries: &[Query]) -> Result<Option<i64>, Error> {
        let mut statements = Vec::with_capacity(queries.len());
        for query in queries {
            statements.push(self.statement(&query.sql).await?);
        }
        let transaction = self.client.transaction().await?;
        let mut returned = None;
        for (statement, query) in statements.iter().zip(queries) {
            let rows = transaction.query(statement, &parameters(&query.values)).await?;
            returned = rows.first().map(|row| row.try_get(0)).transpose()?;
        }
        transaction.commit().await?;
        Ok(returned)
    }
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
