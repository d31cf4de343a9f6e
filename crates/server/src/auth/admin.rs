use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use seaway_api::Scope;
use seaway_store::{Store, StoreError, StoredToken};

use super::{Scopes, hash};
use crate::clock;

/// Why there is no admin token.
#[derive(Debug, thiserror::Error)]
pub enum AdminTokenError {
    #[error("the admin token cannot be written to {}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes the first token of a new data directory, for all that may be done, in a file that only its
/// owner can read. Tells where it is if it was made now.
pub(crate) async fn ensure_admin_token(
    store: &Store,
    path: &Path,
) -> Result<Option<PathBuf>, AdminTokenError> {
    let failed = |source| AdminTokenError::File { path: path.to_owned(), source };
    if let Ok(secret) = fs::read_to_string(path)
        && store.token_by_hash(&hash(secret.trim())).await?.is_some()
    {
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
        return Ok(None);
    }
    if !store.tokens(None, 1).await?.is_empty() {
        // Whoever removed the file has other tokens.
        return Ok(None);
    }
    let secret = new_secret();
    // The file comes first: a token that nobody knows would be of no use.
    let _ = fs::remove_file(path);
    let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = open.and_then(|mut file| {
        file.write_all(secret.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    written.map_err(failed)?;
    let token = StoredToken {
        id: clock::new_id().to_string().into(),
        name: "admin".into(),
        hash: hash(&secret),
        scopes: Scopes::of(&[Scope::Admin]).0,
        project: None,
        created: clock::now(),
        expires: None,
        revoked: None,
    };
    store.add_token(&token).await?;
    Ok(Some(path.to_owned()))
}

/// A secret that cannot be guessed, with a prefix by which scanners for leaked secrets know it.
pub(crate) fn new_secret() -> String {
    use base64::Engine as _;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system has random numbers");
    format!("swy_{}", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
}
