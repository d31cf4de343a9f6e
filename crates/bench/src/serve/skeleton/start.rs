use std::path::Path;

use anyhow::{Context, Result};
use seaway_model::Digest;
use seaway_store::Store;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::ledger::Ledger;
use super::routes::{Desk, router};
use crate::identity::new_id;
use crate::web::listen;

/// Requests that may wait, as in the engine.
const MAILBOX: usize = 4_096;

/// Serves a new data directory until the process is told to end.
pub(crate) fn skeleton(dir: &Path) -> Result<()> {
    Runtime::new().context("starting the runtime")?.block_on(serve(dir))
}

async fn serve(dir: &Path) -> Result<()> {
    let token = format!("swy_{}", new_id().simple());
    std::fs::write(dir.join("admin.token"), &token).context("writing the token")?;
    let store = Store::sqlite(dir)?;
    let ledger = Ledger::open(store.clone()).await?;
    let (mailbox, inbox) = mpsc::channel(MAILBOX);
    let writing = tokio::spawn(ledger.run(inbox));
    let token = Digest(Sha256::digest(token.as_bytes()).into());
    let router = router(Desk { token, ledger: mailbox, store });
    tokio::select! {
        ended = listen(router) => ended,
        ended = writing => ended.context("the writer panicked")?,
    }
}
