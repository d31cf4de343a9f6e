use seaway_kernel::Detail;
use seaway_model::{Kind, Name, Seq};
use seaway_wire::Row;

use crate::documents::WEBHOOK;

/// Where a webhook begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// It goes on after what it has done.
    GoOn(Seq),
    /// It is new, whatever is known about an earlier one of its name.
    Anew(Seq),
}

/// What a record says about a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    Applied,
    Deleted,
}

impl Edit {
    pub(crate) fn of(row: &Row, webhook: &Name) -> Option<Self> {
        if row.kind != Kind::Documents {
            return None;
        }
        let detail = row.open().ok()?.detail?;
        let Detail::Applies { documents, .. } = *detail else { return None };
        let mut edits = documents.iter();
        let edit = edits.find(|it| &*it.kind == WEBHOOK && &*it.name == webhook.as_str())?;
        Some(if edit.digest.is_some() { Self::Applied } else { Self::Deleted })
    }
}

/// A webhook whose document is of record `applied` begins where the store knows it to be, unless
/// it was deleted since then and nobody came to tell the store: then it begins as a new one does,
/// where it was applied again. `edits` are those since the known position.
pub(crate) fn beginning(
    known: Option<Seq>,
    applied: Seq,
    edits: impl IntoIterator<Item = (Seq, Edit)>,
) -> Beginning {
    let mut beginning = known.map_or(Beginning::Anew(applied), Beginning::GoOn);
    let mut deleted = false;
    for (seq, edit) in edits {
        match edit {
            Edit::Deleted => deleted = true,
            Edit::Applied if deleted => (beginning, deleted) = (Beginning::Anew(seq), false),
            Edit::Applied => {}
        }
    }
    beginning
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use seaway_kernel::{Actor, DocumentEdit, Record};
    use seaway_model::{Attempt, Digest, Fact, TargetId, Timestamp};

    use super::*;

    #[test]
    fn a_webhook_goes_on_unless_it_was_deleted_meanwhile() {
        let (applied, deleted) = (Edit::Applied, Edit::Deleted);
        let begin = |known: Option<u64>, edits: &[(u64, Edit)]| {
            let edits = edits.iter().map(|(seq, edit)| (Seq(*seq), *edit));
            beginning(known.map(Seq), Seq(20), edits)
        };
        assert_eq!(begin(None, &[]), Beginning::Anew(Seq(20)));
        assert_eq!(begin(Some(25), &[]), Beginning::GoOn(Seq(25)));
        assert_eq!(begin(Some(10), &[(15, applied), (20, applied)]), Beginning::GoOn(Seq(10)));
        assert_eq!(begin(Some(10), &[(15, deleted), (20, applied)]), Beginning::Anew(Seq(20)));
        let twice = [(11, deleted), (12, applied), (13, deleted), (18, applied), (20, applied)];
        assert_eq!(begin(Some(10), &twice), Beginning::Anew(Seq(18)));
    }

    #[test]
    fn only_records_that_name_a_webhook_are_about_it() {
        let edit = |kind: &str, name: &str, digest| DocumentEdit {
            kind: kind.into(),
            name: name.into(),
            digest,
        };
        let row = |kind, documents| {
            let record = Record {
                seq: Seq(1),
                at: Timestamp(0),
                deployment: None,
                target: TargetId(0),
                revision: None,
                kind,
                fact: Fact::Changed,
                attempt: Attempt(1),
                n: 0,
                outcome: None,
                detail: Some(Box::new(Detail::Applies { documents, services: None })),
                cause: None,
                by: Actor::Named(Arc::from("me")),
            };
            Row::seal(&record, &"shop", Digest::GENESIS)
        };
        let (ci, digest) = (Name::new("ci").unwrap(), Some(Digest([1; 32])));
        let of = |kind, edits: &[DocumentEdit]| Edit::of(&row(kind, edits.to_vec()), &ci);
        let (put, gone) = (edit(WEBHOOK, "ci", digest), edit(WEBHOOK, "ci", None));
        let others = [edit(WEBHOOK, "cd", None), edit("Shipyard", "ci", None)];
        assert_eq!(of(Kind::Documents, &[others[0].clone(), put]), Some(Edit::Applied));
        assert_eq!(of(Kind::Documents, std::slice::from_ref(&gone)), Some(Edit::Deleted));
        assert_eq!(of(Kind::Documents, &others), None);
        assert_eq!(of(Kind::Structure, &[gone]), None);
    }
}
