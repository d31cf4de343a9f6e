use std::sync::Arc;
use std::time::Duration;

use seaway_store::StoreError;
use tokio::sync::watch;

use crate::app::App;

/// How often a server says that it is there, and looks for projects that nobody goes on with.
const EVERY: Duration = Duration::from_secs(1);

/// Projects that are looked up at once.
const PAGE: usize = 100;

/// Pages of one round: one that has more to do leaves the rest to the next, so that this server
/// does not forget to say that it is there.
const PAGES: usize = 100;

/// Says that this server is there, and takes over what a server that is gone has left.
pub(crate) async fn take_over(app: Arc<App>, address: String, mut stop: watch::Receiver<bool>) {
    loop {
        if let Err(error) = app.store.announce(&app.settings.replica, &address).await {
            tracing::warn!(%error, "this server could not be announced to the others");
        }
        if let Err(error) = look(&app, &stop).await {
            tracing::warn!(%error, "projects without an owner cannot be looked for");
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

/// Goes on by name and not from the start again: what was taken on one page may still be loading,
/// and would be found on the next.
async fn look(app: &App, stop: &watch::Receiver<bool>) -> Result<(), StoreError> {
    let mut last = None;
    for _ in 0..PAGES {
        let page = app.store.expired(last.as_ref(), PAGE).await?;
        // A server that stops would find what it has just given away itself.
        if *stop.borrow() {
            return Ok(());
        }
        for project in &page {
            tracing::info!(%project, "taking over a project whose owner is gone");
            drop(app.engine.reopen(project));
        }
        if page.len() < PAGE {
            return Ok(());
        }
        last = page.into_iter().next_back();
    }
    Ok(())
}
