use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use seaway_model::Name;
use seaway_store::{Store, StoreError};
use tokio::time::Instant;

/// Who owns projects, as far as this process knows.
#[derive(Debug)]
pub(crate) struct Ownership {
    store: Store,
    replica: Box<str>,
    others: Mutex<BTreeMap<Name, (Instant, Box<str>)>>,
}

/// Where a project is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// Here, or nowhere: then it can be taken.
    Here,
    /// At a server that can be reached at this address.
    At(Box<str>),
    /// At a server that has not said how to reach it.
    Unreachable,
}

/// How long an answer of the store is relied on.
const REMEMBERED: Duration = Duration::from_secs(1);

impl Ownership {
    pub(crate) fn new(store: Store, replica: Box<str>) -> Self {
        Self { store, replica, others: Mutex::default() }
    }

    pub(crate) async fn find(&self, project: &Name) -> Result<Whereabouts, StoreError> {
        let known = {
            let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
            others.get(project).filter(|(since, _)| since.elapsed() < REMEMBERED).cloned()
        };
        if let Some((_, address)) = known {
            return Ok(Whereabouts::At(address));
        }
        match self.store.owner(project).await? {
            Some(owner) if owner.id != self.replica => match owner.address {
                Some(address) => {
                    let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
                    others.insert(project.clone(), (Instant::now(), address.clone()));
                    Ok(Whereabouts::At(address))
                }
                None => Ok(Whereabouts::Unreachable),
            },
            _ => Ok(Whereabouts::Here),
        }
    }

    /// Whoever was thought to own a project does not answer, or says that it does not.
    pub(crate) fn forget(&self, project: &Name) {
        self.others.lock().unwrap_or_else(PoisonError::into_inner).remove(project);
    }
}
