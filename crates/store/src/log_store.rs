use std::borrow::Cow;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use seaway_wire::Append;

use crate::decode::Damaged;
use crate::error::{AppendError, BackupError, StoreError};

/// What a database must promise to hold logs. Everything else is written once, on top of it.
///
/// * **Order.** The appends of one project are serialised: each one sees the head that the one
///   before it left and refuses to write anywhere else. Positions are therefore gapless, and a
///   reader that has seen position n can never later find a position below n that it has missed,
///   because n + 1 is only written, and so only becomes visible, after n is.
/// * **Fencing.** An append under an epoch other than the project's current one writes nothing.
///   The epoch is compared in the transaction that writes, not before it.
/// * **Durability.** What was acknowledged survives the loss of power.
/// * **Atomicity.** An append becomes visible as a whole or not at all, and fails alone: nothing
///   that one project does makes the append of another fail, except a fault of the store itself.
/// * **Honesty.** Only errors that say so leave open whether something was written. A failed sync
///   is never tried again, because the operating system may have forgotten what it did not write.
pub(crate) trait LogStore {
    /// Asks for the size of the whole store in bytes.
    const SIZE: &'static str;

    /// Asks what is wrong with the files of the store, one line per finding, where a database can
    /// be asked. Lines that say `ok` are no findings.
    const FINDINGS: Option<&'static str>;

    /// The database's own clock in microseconds since 1970, as of the beginning of a statement or
    /// earlier.
    const NOW: &'static str;

    /// Whether what is handed in later is written later.
    const KEEPS_ORDER: bool;

    /// Takes an append in. The receipt says when all of it is durable, or why it is not.
    fn hand_in(&self, append: Append) -> impl Future<Output = Result<Receipt, AppendError>> + Send;

    /// Runs statements in one small transaction that is durable at the end, and gives the first
    /// number that the last one returns. Appends that are waiting go first.
    fn write(
        &self,
        statements: Vec<Query>,
    ) -> impl Future<Output = Result<Option<i64>, StoreError>> + Send;

    /// Answers from what is durable, as of one moment.
    fn select<T: Send + 'static>(
        &self,
        query: Query,
        decode: Decode<T>,
    ) -> impl Future<Output = Result<Vec<T>, StoreError>> + Send;

    /// Copies the store to a new file while it is in use.
    fn backup(&self, path: &Path) -> impl Future<Output = Result<(), BackupError>> + Send;
}

/// The answer to an append, once there is one. It may have to be polled before anything happens.
pub type Receipt = Pin<Box<dyn Future<Output = Result<(), AppendError>> + Send>>;

/// Turns one line of an answer into a value.
pub(crate) type Decode<T> = fn(&dyn Columns) -> Result<T, Damaged>;

/// One line of an answer, whichever database gave it.
pub(crate) trait Columns {
    fn maybe_int(&self, column: usize) -> Result<Option<i64>, Damaged>;
    fn maybe_text(&self, column: usize) -> Result<Option<&str>, Damaged>;
    fn maybe_blob(&self, column: usize) -> Result<Option<&[u8]>, Damaged>;
}

/// A statement in the SQL that both databases understand, with `?1`, `?2`, … for its values.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<Value>,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(Box<str>),
    Blob(Vec<u8>),
}

impl Query {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Self {
        Self { sql: sql.into(), values }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Blob(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Blob(value.to_vec())
    }
}

/// Positions and counters as the databases keep them. They start at zero and grow by one, so that
/// none ever reaches the largest value; a question may name a larger one, and means the end.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
