use std::sync::Arc;

use seaway_kernel::Kernel;
use seaway_model::{Digest, Name, Seq};
use seaway_store::StoreError;

use crate::app::App;
use crate::documents::WEBHOOK;
use crate::webhook::WebhookDocument;

/// What was seen of a project that this process owns.
#[derive(Debug)]
pub(super) struct Sight {
    /// As of which position.
    pub(super) at: Seq,
    /// Its webhooks, each with the record that its document is of.
    pub(super) webhooks: Vec<(WebhookDocument, Seq)>,
}

/// What came of looking at a project.
#[derive(Debug)]
pub(super) enum Look {
    Seen(Sight),
    /// It belongs to somebody else, or is broken.
    NotHere,
    /// It cannot be said now.
    Unclear,
}

pub(super) async fn look(app: Arc<App>, project: Name) -> Look {
    if !app.engine.has(&project) {
        return Look::NotHere;
    }
    let handle = app.engine.project(&project);
    let seen = handle.inspect(|kernel| (kernel.head(), known(kernel))).await;
    let (at, known) = match seen {
        Ok(seen) => seen,
        Err(error) if app.engine.has(&project) => {
            tracing::debug!(%project, %error, "its webhooks cannot be looked at now");
            return Look::Unclear;
        }
        Err(_) => return Look::NotHere,
    };
    match read(&app, &project, known).await {
        Ok(webhooks) => Look::Seen(Sight { at, webhooks }),
        Err(error) => {
            tracing::warn!(%project, %error, "its webhooks cannot be read now");
            Look::Unclear
        }
    }
}

fn known(kernel: &Kernel) -> Vec<(Digest, Seq)> {
    let webhooks = kernel.documents().filter(|(kind, ..)| *kind == WEBHOOK);
    webhooks.map(|(_, _, digest, seq)| (digest, seq)).collect()
}

async fn read(
    app: &App,
    project: &Name,
    known: Vec<(Digest, Seq)>,
) -> Result<Vec<(WebhookDocument, Seq)>, StoreError> {
    let mut webhooks = Vec::with_capacity(known.len());
    for (digest, seq) in known {
        let content = app.store.content(project, &digest).await?;
        let text = content.and_then(|bytes| String::from_utf8(bytes).ok());
        match text.map(|text| WebhookDocument::parse(&text, "webhook")) {
            Some(Ok(webhook)) => webhooks.push((webhook, seq)),
            // It was checked when it was applied; a newer version may know more than this one.
            Some(Err(_)) | None => {
                tracing::error!(%project, record = %seq, "a webhook cannot be read; apply it");
            }
        }
    }
    Ok(webhooks)
}
