use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{Digest, Name, Seq};
use serde::{Deserialize, Serialize};

use crate::record::{DocumentEdit, Services};

/// What people applied to the project, by digest; the content is kept beside the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Documents {
    /// By kind and name: the digest, and the record that put it there.
    pub(crate) known: BTreeMap<(Box<str>, Box<str>), (Digest, Seq)>,
    /// The services that may be deployed; none: all.
    pub(crate) services: Option<Services>,
}

impl Documents {
    pub(crate) fn edit(&mut self, edits: &[DocumentEdit], services: &Option<Services>, seq: Seq) {
        for DocumentEdit { kind, name, digest } in edits {
            let key = (kind.clone(), name.clone());
            match digest {
                Some(digest) => drop(self.known.insert(key, (*digest, seq))),
                None => drop(self.known.remove(&key)),
            }
        }
        self.services.clone_from(services);
    }

    /// Whether a service may be deployed.
    pub(crate) fn takes(&self, service: &Name) -> bool {
        self.services.as_ref().is_none_or(|it| it.auto || it.names.contains(service))
    }

    pub(crate) fn services(&self) -> impl Iterator<Item = &Name> {
        let names: Option<&BTreeSet<Name>> = self.services.as_ref().map(|it| &it.names);
        names.into_iter().flatten()
    }
}
