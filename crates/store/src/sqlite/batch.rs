use std::sync::Arc;

use rusqlite::{Connection, params_from_iter};
use seaway_wire::Append;

use super::append::{self, NotWritten};
use super::fault::Fault;
use crate::error::{AppendError, StoreError};
use crate::log_store::Query;

/// The write-ahead log is copied into the database when it has this many pages.
const CHECKPOINT_PAGES: i64 = 4_000;

/// The transactions of the writer, and what it does when one fails.
#[derive(Debug)]
pub(super) struct Batches {
    connection: Connection,
    /// Set by the first error after which nobody knows what is on the disk. Nothing is written
    /// after it: a sync that is tried again may succeed without having written anything.
    failed: Option<Trouble>,
}

/// Why a whole transaction failed; everybody who was part of it is told.
#[derive(Clone, Debug)]
enum Trouble {
    DiskFull,
    Busy(Arc<str>),
    Corrupt(Arc<str>),
    Failed(Arc<str>),
}

impl Trouble {
    fn of(error: &rusqlite::Error) -> Self {
        let reason = || error.to_string().into();
        match Fault::of(error) {
            Fault::DiskFull => Self::DiskFull,
            Fault::Busy => Self::Busy(reason()),
            Fault::Corrupt => Self::Corrupt(reason()),
            Fault::Taken | Fault::Broken => Self::Failed(reason()),
        }
    }

    fn told(&self) -> StoreError {
        match self {
            Self::DiskFull => StoreError::DiskFull,
            Self::Busy(reason) => StoreError::Unavailable((&**reason).into()),
            Self::Corrupt(reason) => StoreError::Corrupt((&**reason).into()),
            Self::Failed(reason) => StoreError::Failed((&**reason).into()),
        }
    }
}

impl Batches {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, failed: None }
    }

    /// One transaction for all, each append in a savepoint so that it fails alone. When this
    /// returns, what succeeded is durable.
    pub(super) fn append_all(&mut self, appends: &[Append]) -> Vec<Result<(), AppendError>> {
        if appends.is_empty() {
            return Vec::new();
        }
        let written = self.transaction(|connection| {
            appends.iter().map(|append| apart(connection, append)).collect()
        });
        written
            .unwrap_or_else(|trouble| appends.iter().map(|_| Err(trouble.told().into())).collect())
    }

    /// A small transaction beside the log.
    pub(super) fn write(&mut self, statements: &[Query]) -> Result<Option<i64>, StoreError> {
        let written = self.transaction(|connection| {
            let mut returned = None;
            for Query { sql, values } in statements {
                let mut statement = connection.prepare_cached(sql)?;
                let mut rows = statement.query(params_from_iter(values))?;
                returned = None;
                while let Some(row) = rows.next()? {
                    returned = returned.or(Some(row.get(0)?));
                }
            }
            Ok(returned)
        });
        written.map_err(|trouble| trouble.told())
    }

    fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Trouble> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let connection = &self.connection;
        let done = connection.execute_batch("BEGIN IMMEDIATE").and_then(|()| {
            let done = work(connection)?;
            connection.execute_batch("COMMIT")?;
            Ok(done)
        });
        done.map_err(|error| self.undo(&error))
    }

    /// Takes back a transaction that failed, and decides whether there may be another one.
    fn undo(&mut self, error: &rusqlite::Error) -> Trouble {
        let mut trouble = Trouble::of(error);
        // SQLite has rolled back by itself after some errors.
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            trouble = Trouble::Failed(error.to_string().into());
        }
        self.note(&trouble);
        trouble
    }

    fn note(&mut self, trouble: &Trouble) {
        if let Trouble::Corrupt(reason) | Trouble::Failed(reason) = trouble {
            tracing::error!(%reason, "the storage failed; restart this process");
            self.failed = Some(trouble.clone());
        }
    }

    /// Copies the write-ahead log into the database once it is long. Readers and the next append do
    /// not wait for each other here; pages that a reader still needs are copied the next time.
    pub(super) fn checkpoint(&mut self) {
        if self.failed.is_some() {
            return;
        }
        let pages = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(2)?));
        let connection = &self.connection;
        let done = connection
            .prepare_cached("PRAGMA wal_checkpoint(NOOP)")
            .and_then(|mut noop| noop.query_row((), pages))
            .and_then(|(logged, copied): (i64, i64)| match logged - copied {
                CHECKPOINT_PAGES.. => {
                    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))
                }
                _ => Ok(()),
            });
        if let Err(error) = done {
            self.note(&Trouble::of(&error));
        }
    }
}

/// Writes an append so that, if it is refused, nothing of it remains in the transaction.
fn apart(connection: &Connection, append: &Append) -> rusqlite::Result<Result<(), AppendError>> {
    let run = |sql| connection.prepare_cached(sql)?.execute(()).map(|_| ());
    run("SAVEPOINT apart")?;
    let result = match append::write(connection, append) {
        Ok(()) => Ok(()),
        Err(NotWritten::Refused(error)) => {
            run("ROLLBACK TO apart")?;
            Err(error)
        }
        Err(NotWritten::Broken(error)) => return Err(error),
    };
    run("RELEASE apart")?;
    Ok(result)
}
