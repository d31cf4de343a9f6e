use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};
use tokio::sync::Semaphore;

use super::{fault, files};
use crate::decode::Damaged;
use crate::error::{OpenError, StoreError};
use crate::log_store::{Columns, Decode, Query, Value};

/// More would not help: answers come from the page cache, and there are few processors.
const CONNECTIONS: usize = 4;

/// A few connections that can only read, used on threads that may block.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    idle: Arc<Mutex<Vec<Connection>>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, idle: Arc::default(), turns: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn select<T: Send + 'static>(
        &self,
        query: Query,
        decode: Decode<T>,
    ) -> Result<Vec<T>, StoreError> {
        let turn = self.turns.clone().acquire_owned().await;
        let turn = turn.expect("nobody closes the semaphore");
        let (idle, path) = (self.idle.clone(), self.path.clone());
        let answer = tokio::task::spawn_blocking(move || {
            let pooled = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match pooled {
                Some(connection) => connection,
                None => files::open_read_only(&path).map_err(unopened)?,
            };
            let answer = run(&connection, &query, decode);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            drop(turn);
            answer
        });
        answer.await.unwrap_or_else(|error| Err(StoreError::Unavailable(error.into())))
    }
}

fn unopened(error: OpenError) -> StoreError {
    match error {
        OpenError::Damaged { .. } => StoreError::Corrupt(error.into()),
        _ => StoreError::Unavailable(error.into()),
    }
}

fn run<T>(connection: &Connection, query: &Query, decode: Decode<T>) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(&query.sql).map_err(fault::while_reading)?;
    let mut rows =
        statement.query(params_from_iter(&query.values)).map_err(fault::while_reading)?;
    let mut answer = Vec::new();
    while let Some(row) = rows.next().map_err(fault::while_reading)? {
        answer.push(decode(row).map_err(|damaged| StoreError::Corrupt(damaged.into()))?);
    }
    Ok(answer)
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(int) => ValueRef::Integer(*int),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn unreadable(column: usize) -> impl Fn(rusqlite::types::FromSqlError) -> Damaged {
    move |error| Damaged::Unreadable(column, error.into())
}

impl Columns for Row<'_> {
    fn maybe_int(&self, column: usize) -> Result<Option<i64>, Damaged> {
        value(self, column)?.as_i64_or_null().map_err(unreadable(column))
    }

    fn maybe_text(&self, column: usize) -> Result<Option<&str>, Damaged> {
        value(self, column)?.as_str_or_null().map_err(unreadable(column))
    }

    fn maybe_blob(&self, column: usize) -> Result<Option<&[u8]>, Damaged> {
        value(self, column)?.as_blob_or_null().map_err(unreadable(column))
    }
}

fn value<'a>(row: &'a Row<'_>, column: usize) -> Result<ValueRef<'a>, Damaged> {
    row.get_ref(column).map_err(|error| Damaged::Unreadable(column, fault::cause(error)))
}
