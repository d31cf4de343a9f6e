use seaway_model::Name;
use seaway_store::StoreError;
use seaway_vault::{Secret, VaultError};

use super::sign::KEY_BYTES;
use crate::app::App;

/// Why there is no key to sign with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyTrouble {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Sealed(#[from] VaultError),
}

/// The key that the messages of a webhook are signed with. One that has none gets one.
pub(crate) async fn signing_key(
    app: &App,
    project: &Name,
    webhook: &Name,
) -> Result<Secret, KeyTrouble> {
    if let Some(sealed) = app.store.webhook_key(project, webhook).await? {
        return Ok(app.vault.open(&context(project, webhook), &sealed)?);
    }
    let _alone = app.keys.lock().await;
    // Somebody may have asked for one meanwhile, and was told that.
    match app.store.webhook_key(project, webhook).await? {
        Some(sealed) => Ok(app.vault.open(&context(project, webhook), &sealed)?),
        None => Ok(put_new(app, project, webhook).await?),
    }
}

/// A new key, which counts from now on.
pub(crate) async fn new_signing_key(
    app: &App,
    project: &Name,
    webhook: &Name,
) -> Result<Secret, StoreError> {
    let _alone = app.keys.lock().await;
    put_new(app, project, webhook).await
}

async fn put_new(app: &App, project: &Name, webhook: &Name) -> Result<Secret, StoreError> {
    let key = Secret::random(KEY_BYTES);
    let sealed = app.vault.seal(&context(project, webhook), &key);
    app.store.put_webhook_key(project, webhook, sealed).await?;
    Ok(key)
}

fn context(project: &Name, webhook: &Name) -> String {
    format!("webhook/{project}/{webhook}")
}
