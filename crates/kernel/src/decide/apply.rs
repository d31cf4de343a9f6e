use std::collections::BTreeSet;

use seaway_model::{Fact, Kind};

use crate::record::{Detail, DocumentEdit, Services};
use crate::schedule::{Draft, Pen};
use crate::structure::{Structure, StructureChange};
use crate::{Kernel, Refusal, Reply};

impl Kernel {
    /// Changes documents, and the structure that follows from them, together.
    pub(super) fn apply_documents(
        &mut self,
        structure: Option<&Structure>,
        services: &Option<Services>,
        edits: &[DocumentEdit],
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        let change = match structure {
            Some(new) => StructureChange::between(&self.world.structure, new),
            None => None,
        };
        if let Some(change) = &change {
            change.apply_to(&self.world.structure)?;
        }
        self.check_documents(services, edits)?;
        let new: Vec<DocumentEdit> =
            edits.iter().filter(|it| !self.is_known(it)).cloned().collect();
        if !new.is_empty() || self.documents.services != *services {
            let detail = Detail::Applies { documents: new, services: services.clone() };
            let draft = Draft { detail: Some(Box::new(detail)), ..Draft::new(Fact::Changed) };
            self.write_project(Kind::Documents, draft, pen);
        }
        match change {
            Some(change) => self.change_structure(&change, pen),
            None => Ok(self.done()),
        }
    }

    fn is_known(&self, edit: &DocumentEdit) -> bool {
        let known = self.documents.known.get(&(edit.kind.clone(), edit.name.clone()));
        known.map(|(digest, _)| *digest) == edit.digest
    }

    fn check_documents(
        &self,
        services: &Option<Services>,
        edits: &[DocumentEdit],
    ) -> Result<(), Refusal> {
        let named = |text: &str| super::deployment::is_plain(text, Refusal::MAX_DOCUMENT_NAME);
        if let Some(bad) = edits.iter().find(|it| !named(&it.kind) || !named(&it.name)) {
            return Err(Refusal::BadDocument(bad.name.clone()));
        }
        let mut keys = BTreeSet::new();
        if let Some(twice) = edits.iter().find(|it| !keys.insert((&it.kind, &it.name))) {
            return Err(Refusal::DocumentTwice(twice.name.clone()));
        }
        let known = &self.documents.known;
        let there = |it: &&DocumentEdit| known.contains_key(&(it.kind.clone(), it.name.clone()));
        let put = edits.iter().filter(|it| it.digest.is_some());
        let gone = edits.iter().filter(|it| it.digest.is_none());
        let all = known.len() + put.filter(|it| !there(it)).count() - gone.filter(there).count();
        let many = services.as_ref().is_some_and(|it| it.names.len() > Refusal::MAX_SERVICES);
        if all > Refusal::MAX_DOCUMENTS || many {
            return Err(Refusal::TooManyDocuments);
        }
        Ok(())
    }
}
