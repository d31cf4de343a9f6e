use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::app::App;

/// How often a server says that it is there, and looks for projects that nobody goes on with.
const EVERY: Duration = Duration::from_secs(1);

/// Projects that are taken over at once.
const AT_ONCE: usize = 100;

/// Says that this server is there, and takes over what a server that is gone has left.
pub(crate) async fn take_over(app: Arc<App>, address: String, mut stop: watch::Receiver<bool>) {
    loop {
        if let Err(error) = app.store.announce(&app.settings.replica, &address).await {
            tracing::warn!(%error, "this server could not be announced to the others");
        }
        match app.store.expired(AT_ONCE).await {
            Ok(projects) => {
                for project in projects {
                    tracing::info!(%project, "taking over a project whose owner is gone");
                    drop(app.engine.reopen(&project));
                }
            }
            Err(error) => tracing::warn!(%error, "projects without an owner cannot be looked for"),
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}
