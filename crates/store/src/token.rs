use seaway_model::{Digest, Name, Timestamp};

use crate::decode::{self, Damaged};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, int};
use crate::store::Store;

/// A token as it is kept: its secret is known by a hash only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    pub id: Box<str>,
    pub name: Box<str>,
    pub hash: Digest,
    /// One bit per scope; which one is the caller's business.
    pub scopes: u8,
    /// The only project that it is good for.
    pub project: Option<Name>,
    pub created: Timestamp,
    pub expires: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
}

const COLUMNS: &str = "id, name, hash, scopes, project, created, expires, revoked";

impl Store {
    /// Keeps a new token.
    pub async fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        let query = Query::new(
            format!("INSERT INTO token ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"),
            vec![
                (&*token.id).into(),
                (&*token.name).into(),
                token.hash.0.as_slice().into(),
                i64::from(token.scopes).into(),
                token.project.as_ref().map(Name::as_str).into(),
                token.created.0.into(),
                token.expires.map(|at| at.0).into(),
                token.revoked.map(|at| at.0).into(),
            ],
        );
        self.write(vec![query]).await.map(|_| ())
    }

    /// The token whose secret has this hash, whether or not it is still good.
    pub async fn token_by_hash(&self, hash: &Digest) -> Result<Option<StoredToken>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM token WHERE hash = ?1");
        let query = Query::new(sql, vec![hash.0.as_slice().into()]);
        Ok(self.select(query, token).await?.pop())
    }

    /// The tokens whose ids come after `after`, in order of their ids.
    pub async fn tokens(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<StoredToken>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM token WHERE id > ?1 ORDER BY id LIMIT ?2");
        let values = vec![after.unwrap_or_default().into(), int(limit as u64).into()];
        self.select(Query::new(sql, values), token).await
    }

    /// Takes a token out of use from a time on, and says whether there is one with this id. One
    /// that was revoked before keeps its time.
    pub async fn revoke_token(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        let query = Query::new(
            "UPDATE token SET revoked = coalesce(revoked, ?2) WHERE id = ?1 RETURNING revoked",
            vec![id.into(), at.0.into()],
        );
        Ok(self.write(vec![query]).await?.is_some())
    }
}

fn token(line: &dyn Columns) -> Result<StoredToken, Damaged> {
    Ok(StoredToken {
        id: decode::text(line, 0)?.into(),
        name: decode::text(line, 1)?.into(),
        hash: decode::digest(line, 2)?,
        scopes: decode::number(line, 3)?,
        project: decode::maybe_name(line, 4)?,
        created: Timestamp(decode::int(line, 5)?),
        expires: line.maybe_int(6)?.map(Timestamp),
        revoked: line.maybe_int(7)?.map(Timestamp),
    })
}
