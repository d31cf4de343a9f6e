use seaway_api::{Change, ChangeKind};
use seaway_engine::ProjectHandle;
use seaway_kernel::{Command, DocumentEdit, Kernel, Services, Structure};
use seaway_model::{Digest, Seq};

use crate::app::App;
use crate::auth::Caller;
use crate::documents::content_digest;
use crate::problem::Failure;
use crate::routes::executors::position;

/// What is to change in what a project holds, all at once.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    /// The structure from then on; none: as it is.
    pub(crate) structure: Option<Structure>,
    pub(crate) services: ServicesChange,
    pub(crate) documents: Vec<DocumentEdit>,
}

/// The services that may be deployed.
#[derive(Clone, Debug)]
pub(crate) enum ServicesChange {
    Keep,
    /// Those from then on; none: all.
    Become(Option<Services>),
}

impl Changes {
    /// One document, and nothing that follows from it.
    pub(crate) fn of(edit: DocumentEdit) -> Self {
        Self { structure: None, services: ServicesChange::Keep, documents: vec![edit] }
    }

    /// What would change.
    pub(crate) fn foresee(&self, kernel: &Kernel) -> Vec<Change> {
        let known = |edit: &DocumentEdit| kernel.document(&edit.kind, &edit.name).map(|(it, _)| it);
        self.documents.iter().map(|edit| change(edit, kind(known(edit), edit.digest))).collect()
    }

    fn command(self, kernel: &Kernel) -> Command {
        let services = match self.services {
            ServicesChange::Keep => kernel.services().cloned(),
            ServicesChange::Become(services) => services,
        };
        Command::Apply { structure: self.structure, services, documents: self.documents }
    }
}

fn kind(old: Option<Digest>, new: Option<Digest>) -> ChangeKind {
    match (old, new) {
        (None, Some(_)) => ChangeKind::Created,
        (Some(old), Some(new)) if old != new => ChangeKind::Changed,
        (Some(_), Some(_)) | (None, None) => ChangeKind::Unchanged,
        (Some(_), None) => ChangeKind::Deleted,
    }
}

pub(crate) fn change(edit: &DocumentEdit, change: ChangeKind) -> Change {
    Change {
        kind: edit.kind.to_string(),
        name: edit.name.to_string(),
        change,
        digest: edit.digest.map(|digest| digest.to_string()),
    }
}

/// A change that was carried out.
#[derive(Debug)]
pub(crate) struct CarriedOut {
    pub(crate) changes: Vec<Change>,
    /// As of which position it counts; none when nothing changed.
    pub(crate) at: Option<Seq>,
}

/// Changes what a project holds. `contents` are those that the documents name.
pub(crate) async fn carry_out(
    (app, project): (&App, &ProjectHandle),
    (caller, key): (&Caller, Option<Digest>),
    changes: Changes,
    contents: Vec<Vec<u8>>,
) -> Result<CarriedOut, Failure> {
    let _alone = app.change(project.project()).await;
    let look = |kernel: &Kernel| (changes.foresee(kernel), changes.command(kernel));
    let (changes, command) = project.inspect(look).await?;
    // Contents come first: a record must never name one that is not there.
    let contents = contents.into_iter().map(|bytes| (content_digest(&bytes), bytes));
    app.store.put_contents(project.project(), contents.collect()).await?;
    let before = project.durable();
    let reply = project.send_once(command, caller.actor(), key).await?;
    let at = position(&reply);
    let changed = at > before || changes.iter().any(|it| it.change != ChangeKind::Unchanged);
    Ok(CarriedOut { changes, at: changed.then_some(at) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_by_what_was_and_what_will_be() {
        let (one, two) = (Some(content_digest(b"1")), Some(content_digest(b"2")));
        for (old, new, expected) in [
            (None, one, ChangeKind::Created),
            (one, one, ChangeKind::Unchanged),
            (one, two, ChangeKind::Changed),
            (one, None, ChangeKind::Deleted),
            (None, None, ChangeKind::Unchanged),
        ] {
            assert_eq!(kind(old, new), expected, "{old:?} {new:?}");
        }
    }
}
