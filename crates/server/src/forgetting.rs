use std::sync::Arc;
use std::time::Duration;

use seaway_model::{Name, Seq, Span};
use seaway_store::StoreError;
use tokio::sync::watch;

use crate::app::App;
use crate::clock;

/// How often it is looked for answers that nobody asks for any more.
const EVERY: Duration = Duration::from_secs(3_600);

/// How long a request may be sent again without a second effect.
const KEPT: Span = Span::from_secs(7 * 86_400);

/// Projects and answers that are looked at in one step.
const STEP: usize = 1_000;

/// Forgets what requests with a key were answered, once that is long ago.
pub(crate) async fn forget(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    loop {
        if let Err(error) = sweep(&app).await {
            tracing::warn!(%error, "old answers could not be forgotten");
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

async fn sweep(app: &App) -> Result<(), StoreError> {
    let mut last: Option<Name> = None;
    loop {
        let page = app.store.projects(last.as_ref(), STEP).await?;
        for project in page.iter().filter(|project| app.engine.has(project)) {
            let Span(kept) = KEPT;
            let before = seaway_model::Timestamp(clock::now().0 - kept);
            let Seq(before) = app.store.seq_at(project, before).await?;
            while app.store.forget_answers(project, Seq(before), STEP).await? == STEP as u64 {}
        }
        let full = page.len() == STEP;
        last = page.into_iter().next_back();
        if !full {
            return Ok(());
        }
    }
}
