use seaway_model::{Epoch, Name, Span};

use crate::decode::{self, Damaged};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, int};
use crate::store::Store;

/// How often a lease may change hands between being refused and being looked up.
const TRIES: usize = 8;

/// A process that has not been seen for so long is not listed any more: one day.
const FORGOTTEN: Span = Span::from_secs(24 * 60 * 60);

/// The answer to a process that wants to own a project for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lease {
    /// It does, and writes under this epoch.
    Held { epoch: Epoch },
    /// Another one does, which can be reached at the address if it has told one.
    Elsewhere { owner: Box<str>, address: Option<Box<str>> },
}

/// Who owns a project, and where it can be reached if it has said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub id: Box<str>,
    pub address: Option<Box<str>>,
}

/// Several processes on one database share its projects: each project belongs to one of them, for
/// as long as that one renews its lease. Only the clock of the database counts. The lease keeps
/// processes out of each other's way; what keeps the log whole if one of them is mistaken is the
/// epoch, which every append names.
///
/// An owner is one run of a process: whoever starts again comes with another id.
impl Store {
    /// Says that a process is alive, and where others reach it.
    pub async fn announce(&self, id: &str, address: &str) -> Result<(), StoreError> {
        let now = self.now();
        let seen = format!(
            "INSERT INTO replica (id, address, seen) VALUES (?1, ?2, {now})
             ON CONFLICT (id) DO UPDATE SET address = excluded.address, seen = excluded.seen"
        );
        let old = format!("DELETE FROM replica WHERE seen < {now} - ?1");
        let old = Query::new(old, vec![FORGOTTEN.0.into()]);
        self.write(vec![old, Query::new(seen, vec![id.into(), address.into()])]).await.map(|_| ())
    }

    /// Takes the project under a new epoch if nobody else holds a live lease of it, so that
    /// whatever was written under an earlier one is refused, and otherwise says who has it.
    ///
    /// An owner that takes it anew never lets go of it in between: whoever renews or looks at that
    /// moment finds it owned all the time.
    pub async fn lease(&self, project: &Name, owner: &str, ttl: Span) -> Result<Lease, StoreError> {
        let id = self.project_id(project).await?;
        let now = self.now();
        let sql = format!(
            "UPDATE project SET epoch = epoch + 1, owner = ?2, lease = {now} + ?3
             WHERE id = ?1 AND (owner = ?2 OR lease IS NULL OR lease <= {now})
             RETURNING epoch"
        );
        let take = Query::new(sql, vec![id.into(), owner.into(), ttl.0.into()]);
        for _ in 0..TRIES {
            if let Some(epoch) = self.write(vec![take.clone()]).await? {
                return Ok(Lease::Held { epoch: Epoch(epoch.unsigned_abs()) });
            }
            match self.owner(project).await? {
                Some(Owner { id, address }) if *id != *owner => {
                    return Ok(Lease::Elsewhere { owner: id, address });
                }
                // It ran out or was taken by this owner in the meantime.
                _ => {}
            }
        }
        Err(StoreError::Unavailable("the project changes hands all the time".into()))
    }

    /// Extends all leases of an owner, and says which projects it holds under which epoch. Those
    /// that ran out are extended too, as long as nobody else has taken them.
    pub async fn renew_leases(
        &self,
        owner: &str,
        ttl: Span,
    ) -> Result<Vec<(Name, Epoch)>, StoreError> {
        let now = self.now();
        let renew =
            format!("UPDATE project SET lease = {now} + ?2 WHERE owner = ?1 AND lease IS NOT NULL");
        self.write(vec![Query::new(renew, vec![owner.into(), ttl.0.into()])]).await?;
        let held = format!(
            "SELECT name, epoch FROM project WHERE owner = ?1 AND lease > {now} ORDER BY name"
        );
        let held = Query::new(held, vec![owner.into()]);
        let decode =
            |line: &dyn Columns| Ok((decode::name(line, 0)?, Epoch(decode::number(line, 1)?)));
        self.select(held, decode).await
    }

    /// Lets all leases of an owner run out at once and says that it is gone. Its projects still
    /// name it, because somebody has to go on with them, as with those of an owner that crashed.
    pub async fn release_all(&self, owner: &str) -> Result<(), StoreError> {
        let projects = "UPDATE project SET lease = 0 WHERE owner = ?1 AND lease IS NOT NULL";
        let replica = "DELETE FROM replica WHERE id = ?1";
        let all = [projects, replica].map(|sql| Query::new(sql, vec![owner.into()]));
        self.write(all.into()).await.map(|_| ())
    }

    /// Who holds a live lease of the project.
    pub async fn owner(&self, project: &Name) -> Result<Option<Owner>, StoreError> {
        let id = self.project_id(project).await?;
        let sql = format!(
            "SELECT p.owner, r.address FROM project p LEFT JOIN replica r ON r.id = p.owner
             WHERE p.id = ?1 AND p.owner IS NOT NULL AND p.lease > {}",
            self.now()
        );
        Ok(self.select(Query::new(sql, vec![id.into()]), owner).await?.pop())
    }

    /// Projects whose owner has not renewed its lease or is gone, so that somebody has to go on
    /// with them: those whose names come after `after`, in order of their names.
    pub async fn expired(
        &self,
        after: Option<&Name>,
        limit: usize,
    ) -> Result<Vec<Name>, StoreError> {
        let sql = format!(
            "SELECT name FROM project WHERE name > ?1 AND owner IS NOT NULL AND lease <= {}
             ORDER BY name LIMIT ?2",
            self.now()
        );
        let after = after.map_or("", Name::as_str);
        let query = Query::new(sql, vec![after.into(), int(limit as u64).into()]);
        self.select(query, decode::first_name).await
    }
}

fn owner(line: &dyn Columns) -> Result<Owner, Damaged> {
    let address = line.maybe_text(1)?.map(Into::into);
    Ok(Owner { id: decode::text(line, 0)?.into(), address })
}
