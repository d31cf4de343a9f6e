use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use seaway_model::Digest;
use seaway_store::{Store, StoreError, StoredToken};
use sha2::{Digest as _, Sha256};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::{Caller, Scopes};
use crate::clock;

/// Tokens, with a short memory: one that was revoked elsewhere is refused here soon after.
#[derive(Debug)]
pub(crate) struct Tokens {
    store: Store,
    known: RwLock<BTreeMap<Digest, (Instant, Known)>>,
    change: Mutex<()>,
}

#[derive(Clone, Debug)]
struct Known {
    caller: Arc<Caller>,
    stored: Arc<StoredToken>,
}

/// How long a token is good without asking the store again.
const REMEMBERED: Duration = Duration::from_secs(2);

/// Bounds the memory that strangers can take: what does not exist is not remembered.
const MAX_KNOWN: usize = 10_000;

impl Tokens {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, known: RwLock::default(), change: Mutex::default() }
    }

    /// Who a secret belongs to, if it is one that is good now.
    pub(crate) async fn caller(&self, secret: &str) -> Result<Option<Arc<Caller>>, StoreError> {
        let hash = hash(secret);
        let known = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.get(&hash).filter(|(since, _)| since.elapsed() < REMEMBERED).cloned()
        };
        let known = match known {
            Some((_, known)) => known,
            None => match self.look_up(hash).await? {
                Some(known) => known,
                None => return Ok(None),
            },
        };
        let good = known.stored.revoked.is_none()
            && known.stored.expires.is_none_or(|expires| expires > clock::now());
        Ok(good.then(|| known.caller.clone()))
    }

    async fn look_up(&self, hash: Digest) -> Result<Option<Known>, StoreError> {
        let Some(stored) = self.store.token_by_hash(&hash).await? else { return Ok(None) };
        let caller = Caller {
            token: (&*stored.id).into(),
            name: (&*stored.name).into(),
            scopes: Scopes(stored.scopes),
            project: stored.project.clone(),
        };
        let found = Known { caller: Arc::new(caller), stored: Arc::new(stored) };
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(hash, (Instant::now(), found.clone()));
        Ok(Some(found))
    }

    /// The right to revoke tokens: whether one may go follows from those that are left.
    pub(crate) async fn change(&self) -> MutexGuard<'_, ()> {
        self.change.lock().await
    }

    /// What was remembered may no longer hold.
    pub(crate) fn forget(&self) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Secrets are long and random, so that a plain hash is enough to keep them by.
pub(crate) fn hash(secret: &str) -> Digest {
    Digest(Sha256::digest(secret.as_bytes()).into())
}
