use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};
use seaway_model::Name;
use seaway_wire::Append;

use super::append::{self, NotWritten};
use super::{fault, files, schema};
use crate::error::{AppendError, OpenError};

/// The tables without the writer: what the database itself can do on one thread. For benchmarks.
#[derive(Debug)]
pub struct Raw(Connection);

impl Raw {
    /// Opens a file with the schema and the durability of the real store.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let mut connection = files::open(path)?;
        schema::migrate(&mut connection, path)?;
        files::make_durable(&connection, path)?;
        connection
            .execute_batch("PRAGMA wal_autocheckpoint = 4000")
            .map_err(|error| fault::while_opening(path, error))?;
        Ok(Self(connection))
    }

    /// Makes a project and gives it the epoch under which appends are expected.
    pub fn create_project(&mut self, name: &Name, epoch: u32) -> Result<(), AppendError> {
        let created = self.0.execute(
            "INSERT INTO project (name, epoch) VALUES (?1, ?2)",
            (name.as_str(), i64::from(epoch)),
        );
        created.map(|_| ()).map_err(|error| AppendError::Unavailable(fault::cause(error)))
    }

    /// Writes all of them in one transaction.
    pub fn append_all(&mut self, appends: &[Append]) -> Result<(), AppendError> {
        let lost = |error| AppendError::Unavailable(fault::cause(error));
        let transaction =
            self.0.transaction_with_behavior(TransactionBehavior::Immediate).map_err(lost)?;
        for append in appends {
            append::write(&transaction, append).map_err(|error| match error {
                NotWritten::Refused(error) => error,
                NotWritten::Broken(error) => lost(error),
            })?;
        }
        transaction.commit().map_err(lost)
    }
}
