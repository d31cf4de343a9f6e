use std::sync::Arc;

use rusqlite::config::DbConfig;
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
    /// Nothing was written, and the next transaction may do better.
    Passing(Arc<str>),
    Corrupt(Arc<str>),
    Failed(Arc<str>),
}

impl Trouble {
    fn before_commit(error: &rusqlite::Error) -> Self {
        let reason = || error.to_string().into();
        match Fault::of(error) {
            Fault::DiskFull => Self::DiskFull,
            Fault::Busy | Fault::Taken | Fault::Odd => Self::Passing(reason()),
            Fault::Corrupt => Self::Corrupt(reason()),
            Fault::Broken => Self::Failed(reason()),
        }
    }

    /// A full disk and a busy file are noticed before anything counts. Any other error may mean
    /// that the sync failed.
    fn at_commit(error: &rusqlite::Error) -> Self {
        match Fault::of(error) {
            Fault::DiskFull => Self::DiskFull,
            Fault::Busy => Self::Passing(error.to_string().into()),
            _ => Self::Failed(error.to_string().into()),
        }
    }

    fn told(&self) -> StoreError {
        match self {
            Self::DiskFull => StoreError::DiskFull,
            Self::Passing(reason) => StoreError::Unavailable((&**reason).into()),
            Self::Corrupt(reason) => StoreError::Corrupt((&**reason).into()),
            Self::Failed(reason) => StoreError::Failed((&**reason).into()),
        }
    }
}

impl Batches {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, failed: None }
    }

    /// One transaction for all, in which each append fails alone. When this returns, what succeeded
    /// is durable.
    pub(super) fn append_all(&mut self, appends: &[Append]) -> Vec<Result<(), AppendError>> {
        if appends.is_empty() {
            return Vec::new();
        }
        let written = self.transaction(|connection| {
            if together(connection, appends)? {
                return Ok(appends.iter().map(|_| Ok(())).collect());
            }
            run(connection, "ROLLBACK")?;
            run(connection, "BEGIN IMMEDIATE")?;
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
        let done = run(connection, "BEGIN IMMEDIATE")
            .and_then(|()| work(connection))
            .map_err(|error| Trouble::before_commit(&error))
            .and_then(|done| match run(connection, "COMMIT") {
                Ok(()) => Ok(done),
                Err(error) => Err(Trouble::at_commit(&error)),
            });
        done.map_err(|trouble| self.undo(trouble))
    }

    /// Takes back a transaction that failed, and decides whether there may be another one.
    fn undo(&mut self, mut trouble: Trouble) -> Trouble {
        // SQLite has rolled back by itself after some errors.
        if !self.connection.is_autocommit()
            && let Err(error) = run(&self.connection, "ROLLBACK")
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
            // Closing would otherwise sync what could not be synced before.
            let leave = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            if let Err(error) = self.connection.set_db_config(leave, true) {
                tracing::error!(%error, "the failed storage will be touched when it is closed");
            }
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
            self.note(&Trouble::before_commit(&error));
        }
    }
}

/// Writes all of them and gives `true`, or stops at the first that is refused, which is rare. The
/// way that can tell them apart is to begin again with savepoints, each of which keeps a copy of
/// every page that changes: that costs a fifth of the rate.
fn together(connection: &Connection, appends: &[Append]) -> rusqlite::Result<bool> {
    for append in appends {
        match append::write(connection, append) {
            Ok(()) => {}
            Err(NotWritten::Refused(_)) => return Ok(false),
            Err(NotWritten::Broken(error)) => return Err(error),
        }
    }
    Ok(true)
}

/// Writes an append so that, if it is refused, nothing of it remains in the transaction.
fn apart(connection: &Connection, append: &Append) -> rusqlite::Result<Result<(), AppendError>> {
    run(connection, "SAVEPOINT apart")?;
    let result = match append::write(connection, append) {
        Ok(()) => Ok(()),
        Err(NotWritten::Refused(error)) => {
            run(connection, "ROLLBACK TO apart")?;
            Err(error)
        }
        Err(NotWritten::Broken(error)) => return Err(error),
    };
    run(connection, "RELEASE apart")?;
    Ok(result)
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute(()).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A foreign key that is checked at the end makes the commit itself fail.
    #[test]
    fn after_a_failed_commit_nothing_is_written_any_more() {
        let connection = Connection::open_in_memory().unwrap();
        let tables = "PRAGMA foreign_keys = ON; CREATE TABLE a (id INTEGER PRIMARY KEY);
             CREATE TABLE b (a INTEGER REFERENCES a DEFERRABLE INITIALLY DEFERRED);";
        connection.execute_batch(tables).unwrap();
        let mut batches = Batches::new(connection);
        let mut write = |sql: &'static str| batches.write(&[Query::new(sql, Vec::new())]);

        write("INSERT INTO a VALUES (1)").unwrap();
        let taken = write("INSERT INTO a VALUES (1)");
        assert!(matches!(taken, Err(StoreError::Unavailable(_))), "{taken:?}");
        write("INSERT INTO a VALUES (2)").unwrap();

        let failed = write("INSERT INTO b VALUES (7)");
        assert!(matches!(failed, Err(StoreError::Failed(_))), "{failed:?}");
        let after = write("INSERT INTO a VALUES (3)");
        assert!(matches!(after, Err(StoreError::Failed(_))), "{after:?}");
        let left: i64 =
            batches.connection.query_row("SELECT max(id) FROM a", (), |row| row.get(0)).unwrap();
        assert_eq!(left, 2);
    }
}
