use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};
use tokio::sync::{Semaphore, oneshot};

use super::{fault, files};
use crate::decode::Damaged;
use crate::error::{OpenError, StoreError};
use crate::log_store::{Columns, Decode, Query, Value};

/// More would not help: answers come from the page cache, and there are few processors.
const THREADS: usize = 4;

/// A few threads that can only read, each with a connection of its own.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    jobs: Option<mpsc::Sender<Job>>,
    /// As many as there are threads, so that the queue is never longer than that.
    turns: Arc<Semaphore>,
    threads: Vec<JoinHandle<()>>,
}

type Job = Box<dyn FnOnce(&mut Reader) + Send>;

/// What a thread reads with. It connects when it is first asked.
struct Reader {
    path: PathBuf,
    connection: Option<Connection>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        let (jobs, queue) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        let start = |_| {
            let (path, queue) = (path.clone(), queue.clone());
            std::thread::Builder::new()
                .name("store-reader".into())
                .spawn(move || work(Reader { path, connection: None }, &queue))
                .expect("the system lets a starting process have one more thread")
        };
        let threads = (0..THREADS).map(start).collect();
        Self { path, jobs: Some(jobs), turns: Arc::new(Semaphore::new(THREADS)), threads }
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
        let (reply, answer) = oneshot::channel();
        let job = move |reader: &mut Reader| {
            let found = reader.connection().and_then(|it| run(it, &query, decode));
            drop(turn);
            // A caller that has gone away does not hear the answer.
            drop(reply.send(found));
        };
        let jobs = self.jobs.as_ref().expect("the queue is closed by drop only");
        let gone = || StoreError::Unavailable("a reader of the store has ended".into());
        jobs.send(Box::new(job)).map_err(|_closed| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for Readers {
    /// Waits until their connections are closed, so that the writer is the last to leave.
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a reader of the store panicked");
            }
        }
    }
}

fn work(mut reader: Reader, queue: &Mutex<mpsc::Receiver<Job>>) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        // One question that goes wrong must not take the thread from all others.
        if std::panic::catch_unwind(AssertUnwindSafe(|| job(&mut reader))).is_err() {
            reader.connection = None;
        }
    }
}

impl Reader {
    fn connection(&mut self) -> Result<&Connection, StoreError> {
        match &mut self.connection {
            Some(connection) => Ok(connection),
            none => Ok(none.insert(files::open_read_only(&self.path).map_err(unopened)?)),
        }
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
