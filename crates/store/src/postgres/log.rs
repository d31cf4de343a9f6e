use std::path::Path;
use std::sync::Arc;

use seaway_wire::Append;

use super::pool::{Access, Lease, Pool};
use super::{append, fault, schema};
use crate::error::{AppendError, BackupError, OpenError, StoreError};
use crate::log_store::{Decode, LogStore, Query, Receipt};
use crate::shape;

/// Appends of different projects run side by side, so that their commits share a flush.
const WRITERS: usize = 8;

/// Questions have connections of their own and never keep an append waiting.
const READERS: usize = 8;

/// The store in a database that several processes may share.
#[derive(Clone, Debug)]
pub struct Postgres {
    readers: Arc<Pool>,
    /// None where the database was opened for looking at it.
    writers: Option<Arc<Pool>>,
}

impl Postgres {
    pub(crate) async fn connect(url: &str) -> Result<Self, OpenError> {
        let config = fault::parse(url)?;
        let place = fault::place(&config);
        schema::migrate(&config, &place).await?;
        let readers = Arc::new(Pool::new(config.clone(), Access::ReadOnly, READERS));
        let writers = Arc::new(Pool::new(config, Access::ReadWrite, WRITERS));
        Ok(Self { readers, writers: Some(writers) })
    }

    pub(crate) async fn connect_read_only(url: &str) -> Result<Self, OpenError> {
        let config = fault::parse(url)?;
        let place = fault::place(&config);
        schema::check(&config, &place).await?;
        let readers = Arc::new(Pool::new(config, Access::ReadOnly, READERS));
        Ok(Self { readers, writers: None })
    }

    async fn append(&self, append: Append) -> Result<(), AppendError> {
        let mut lease = self.writer().await?;
        let session = lease.session();
        let statement = session.statement(append::statement(&append)).await;
        let statement = statement.map_err(|error| append::error(error, &append))?;
        append::call(session.client(), &statement, &append)
            .await
            .map_err(|error| append::error(error, &append))
    }

    async fn writer(&self) -> Result<Lease<'_>, StoreError> {
        let writers = self.writers.as_ref().ok_or(StoreError::ReadOnly)?;
        writers.take().await.map_err(|error| StoreError::Unavailable(error.into()))
    }
}

impl LogStore for Postgres {
    const SIZE: &'static str = "SELECT pg_database_size(current_database())";

    /// A server watches over its own files.
    const FINDINGS: Option<&'static str> = None;

    /// One moment for the whole transaction: whoever had to wait for a lock within it believes that
    /// it is earlier than it is, and so never that a lease has run out which has not.
    const NOW: &'static str = "CAST(extract(epoch FROM now()) * 1000000 AS BIGINT)";

    /// Appends travel on several connections.
    const KEEPS_ORDER: bool = false;

    async fn hand_in(&self, append: Append) -> Result<Receipt, AppendError> {
        shape::check(&append)?;
        let postgres = self.clone();
        Ok(Box::pin(async move { postgres.append(append).await }))
    }

    async fn write(&self, statements: Vec<Query>) -> Result<Option<i64>, StoreError> {
        let mut lease = self.writer().await?;
        lease.session().write(&statements).await.map_err(fault::store_error)
    }

    async fn select<T: Send + 'static>(
        &self,
        query: Query,
        decode: Decode<T>,
    ) -> Result<Vec<T>, StoreError> {
        let unavailable = |error: tokio_postgres::Error| StoreError::Unavailable(error.into());
        let mut lease = self.readers.take().await.map_err(unavailable)?;
        let rows = lease.session().select(&query).await.map_err(fault::store_error)?;
        let values = rows.iter().map(|row| decode(row));
        values.collect::<Result<_, _>>().map_err(|damaged| StoreError::Corrupt(damaged.into()))
    }

    async fn backup(&self, _path: &Path) -> Result<(), BackupError> {
        Err(BackupError::UsePgDump)
    }
}
