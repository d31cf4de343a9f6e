use std::collections::{BTreeMap, VecDeque};

use seaway_model::{Name, Revision};

/// Registrations that the store may not have answered for yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    order: VecDeque<(Name, Box<str>, Revision)>,
    by_version: BTreeMap<Name, BTreeMap<Box<str>, Revision>>,
}

/// How many are remembered: more than can be under way between a look into the store and the
/// decision that follows it.
const KEPT: usize = 6_500;

impl Recent {
    pub(crate) fn find(&self, service: &Name, version: &str) -> Option<Revision> {
        self.by_version.get(service)?.get(version).copied()
    }

    pub(crate) fn note(&mut self, service: &Name, version: &str, revision: Revision) {
        if self.find(service, version).is_some() {
            return;
        }
        self.order.push_back((service.clone(), version.into(), revision));
        self.by_version.entry(service.clone()).or_default().insert(version.into(), revision);
        if self.order.len() > KEPT
            && let Some((service, version, _)) = self.order.pop_front()
            && let Some(versions) = self.by_version.get_mut(&service)
        {
            versions.remove(&version);
            if versions.is_empty() {
                self.by_version.remove(&service);
            }
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &(Name, Box<str>, Revision)> {
        self.order.iter()
    }
}
