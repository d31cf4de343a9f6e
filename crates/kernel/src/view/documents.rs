use seaway_model::{Digest, Name, Seq};

use crate::{Kernel, Services};

impl Kernel {
    /// The documents of the project, by kind and name: their digests, and the records that put them
    /// there.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &str, Digest, Seq)> {
        let known = self.documents.known.iter();
        known.map(|((kind, name), (digest, seq))| (&**kind, &**name, *digest, *seq))
    }

    /// One document.
    #[must_use]
    pub fn document(&self, kind: &str, name: &str) -> Option<(Digest, Seq)> {
        self.documents.known.get(&(kind.into(), name.into())).copied()
    }

    /// The services that may be deployed; none: all.
    #[must_use]
    pub fn services(&self) -> Option<&Services> {
        self.documents.services.as_ref()
    }

    /// Whether a service may be deployed.
    #[must_use]
    pub fn takes(&self, service: &Name) -> bool {
        self.documents.takes(service)
    }
}
