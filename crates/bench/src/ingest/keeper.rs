use std::path::Path;
use std::thread;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use rusqlite::{Connection, TransactionBehavior};
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};

use crate::web::listen;

/// As in the store: what may wait, and so the most that one transaction takes.
const QUEUE: usize = 1_024;

type Kept = (Bytes, oneshot::Sender<()>);

/// Keeps the bytes of every request in SQLite, durably and all that wait in one transaction, and
/// then gives them back.
pub(crate) fn keeper(dir: &Path) -> Result<()> {
    let connection = Connection::open(dir.join("kept.db")).context("making a database")?;
    let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE event (id INTEGER PRIMARY KEY, body BLOB NOT NULL);";
    connection.execute_batch(settings).context("setting up a database")?;
    let (queue, kept) = mpsc::channel(QUEUE);
    thread::spawn(move || {
        if let Err(error) = write(connection, kept) {
            eprintln!("{error:#}");
        }
    });
    let router = Router::new().route("/v1/events", post(keep)).with_state(queue);
    Runtime::new().context("starting the runtime")?.block_on(listen(router))
}

async fn keep(State(queue): State<mpsc::Sender<Kept>>, body: Bytes) -> Result<Bytes, StatusCode> {
    let (caller, durable) = oneshot::channel();
    let unavailable = StatusCode::SERVICE_UNAVAILABLE;
    queue.send((body.clone(), caller)).await.map_err(|_closed| unavailable)?;
    durable.await.map_err(|_closed| unavailable)?;
    Ok(body)
}

fn write(mut connection: Connection, mut queue: mpsc::Receiver<Kept>) -> Result<()> {
    let mut batch = Vec::new();
    while queue.blocking_recv_many(&mut batch, QUEUE) > 0 {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut insert = transaction.prepare_cached("INSERT INTO event (body) VALUES (?1)")?;
        for (body, _) in &batch {
            insert.execute([&body[..]])?;
        }
        drop(insert);
        transaction.commit()?;
        for (_, caller) in batch.drain(..) {
            // A caller that went away does not need its answer.
            let _ = caller.send(());
        }
    }
    Ok(())
}
