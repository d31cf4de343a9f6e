use std::thread::JoinHandle;

use rusqlite::Connection;
use seaway_wire::Append;
use tokio::sync::{mpsc, oneshot};

use super::batch::Batches;
use super::files::DataDir;
use crate::error::{AppendError, StoreError};
use crate::log_store::{Query, Receipt};

/// How many requests may wait. Whoever comes later waits for a place in the queue.
const QUEUE: usize = 1_024;

/// The only thread that writes. It takes everything that is waiting, from all projects, into one
/// transaction: one sync for all of them.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Job {
    Append(Append, oneshot::Sender<Result<(), AppendError>>),
    Write(Vec<Query>, oneshot::Sender<Result<Option<i64>, StoreError>>),
}

impl Writer {
    pub(super) fn start(connection: Connection, dir: DataDir) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || {
                work(Batches::new(connection), jobs);
                // The directory is released last, when the files are at rest.
                drop(dir);
            })
            .expect("the system lets a starting process have one more thread");
        Self { queue: Some(queue), thread: Some(thread) }
    }

    /// Waits until it is in the queue.
    pub(super) async fn append(&self, append: Append) -> Result<Receipt, AppendError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Append(append, reply)).await?;
        Ok(Box::pin(async move { answer.await.unwrap_or_else(|_| Err(gone().into())) }))
    }

    pub(super) async fn write(&self, statements: Vec<Query>) -> Result<Option<i64>, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Write(statements, reply)).await?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    async fn send(&self, job: Job) -> Result<(), StoreError> {
        let queue = self.queue.as_ref().expect("the queue is closed by drop only");
        queue.send(job).await.map_err(|_closed| gone())
    }
}

impl Drop for Writer {
    /// Waits until what was accepted is written and the directory is free for another process.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer of the store panicked");
        }
    }
}

fn gone() -> StoreError {
    StoreError::Failed("the writer of the store has ended".into())
}

/// Takes everything that is waiting at a time, appends first.
fn work(mut batches: Batches, mut jobs: mpsc::Receiver<Job>) {
    while let Some(first) = jobs.blocking_recv() {
        let (mut appends, mut replies, mut writes) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(job) = next {
            match job {
                Job::Append(append, reply) => {
                    appends.push(append);
                    replies.push(reply);
                }
                Job::Write(statements, reply) => writes.push((statements, reply)),
            }
            let full = appends.len() + writes.len() >= QUEUE;
            next = if full { None } else { jobs.try_recv().ok() };
        }
        // A caller that has gone away does not hear the answer, but what was written stays.
        for (reply, result) in replies.into_iter().zip(batches.append_all(&appends)) {
            let _ = reply.send(result);
        }
        for (statements, reply) in writes {
            let _ = reply.send(batches.write(&statements));
        }
        batches.checkpoint();
    }
}
