use std::collections::BTreeMap;

use seaway_kernel::{Detail, Kernel, Record, Services};
use seaway_model::{Digest, Name, Seq};

use super::log::Verifier;
use super::violation::{Rule, Violation};

/// The documents and services that the records add up to.
#[derive(Debug, Default)]
pub(super) struct Papers {
    documents: BTreeMap<(Box<str>, Box<str>), (Digest, Seq)>,
    services: Option<Services>,
}

fn broken(detail: impl Into<String>) -> Result<(), Violation> {
    Err(Violation::new(Rule::Applied, detail))
}

impl Verifier {
    /// Documents change, and something is different afterwards.
    pub(super) fn papers(&mut self, record: &Record) -> Result<(), Violation> {
        let Some(Detail::Applies { documents, services }) = record.detail.as_deref() else {
            return broken("it does not say what was applied");
        };
        let mut changes = self.papers.services != *services;
        for edit in documents {
            let key = (edit.kind.clone(), edit.name.clone());
            let known = self.papers.documents.get(&key).map(|(digest, _)| *digest);
            if known == edit.digest {
                return broken(format!("{} {} is as it was", edit.kind, edit.name));
            }
            changes = true;
            match edit.digest {
                Some(digest) => drop(self.papers.documents.insert(key, (digest, record.seq))),
                None => drop(self.papers.documents.remove(&key)),
            }
        }
        self.papers.services.clone_from(services);
        if changes { Ok(()) } else { broken("nothing changes") }
    }

    /// Only services of the project are deployed.
    pub(super) fn check_service(&self, service: &Name) -> Result<(), Violation> {
        let known = |it: &Services| it.auto || it.names.contains(service);
        match self.papers.services.as_ref().is_none_or(known) {
            true => Ok(()),
            false => broken(format!("{service} is not part of the project")),
        }
    }

    /// A state knows the documents that the records tell of.
    pub(crate) fn check_applied(&self, kernel: &Kernel) -> Result<(), Violation> {
        let known = kernel.documents();
        let known = known.map(|(kind, name, digest, seq)| ((kind, name), (digest, seq)));
        let told = self.papers.documents.iter();
        let told = told.map(|((kind, name), entry)| ((&**kind, &**name), *entry));
        match known.eq(told) && kernel.services() == self.papers.services.as_ref() {
            true => Ok(()),
            false => broken(format!("the state does not know {:?}", self.papers)),
        }
    }
}
