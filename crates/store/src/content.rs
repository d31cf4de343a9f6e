use seaway_model::{Digest, Name};
use sha2::{Digest as _, Sha256};

use crate::decode::{self, Damaged};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, Value};
use crate::store::Store;

/// How many contents one statement asks for. It is always the same statement: what is missing at
/// the end repeats the last one.
const AT_ONCE: usize = 16;

impl Store {
    /// The largest content that is kept.
    pub const CONTENT_LIMIT: usize = 1024 * 1024;

    /// Keeps contents under their digests, all or none of them. What is there already stays.
    pub async fn put_contents(
        &self,
        project: &Name,
        contents: Vec<(Digest, Vec<u8>)>,
    ) -> Result<(), StoreError> {
        let id = self.project_id(project).await?;
        let mut statements = Vec::with_capacity(contents.len());
        for (digest, bytes) in contents {
            if bytes.len() > Self::CONTENT_LIMIT {
                return Err(StoreError::Malformed("it is larger than 1 MiB; split it"));
            }
            if sha256(&bytes) != digest {
                return Err(StoreError::Malformed("its digest is not the one of its bytes"));
            }
            statements.push(Query::new(
                "INSERT INTO content (project, digest, bytes) VALUES (?1, ?2, ?3)
                 ON CONFLICT (project, digest) DO NOTHING",
                vec![id.into(), digest.0.as_slice().into(), bytes.into()],
            ));
        }
        if statements.is_empty() {
            return Ok(());
        }
        self.write(statements).await.map(|_| ())
    }

    /// The bytes with this digest.
    pub async fn content(
        &self,
        project: &Name,
        digest: &Digest,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT digest, bytes FROM content WHERE project = ?1 AND digest = ?2",
            vec![id.into(), digest.0.as_slice().into()],
        );
        Ok(self.select(query, content).await?.pop().map(|(_, bytes)| bytes))
    }

    /// Those of the contents that are there, in any order.
    pub async fn contents(
        &self,
        project: &Name,
        digests: &[Digest],
    ) -> Result<Vec<(Digest, Vec<u8>)>, StoreError> {
        let id = self.project_id(project).await?;
        let numbers: Vec<String> = (2..AT_ONCE + 2).map(|number| format!("?{number}")).collect();
        let sql = format!(
            "SELECT digest, bytes FROM content WHERE project = ?1 AND digest IN ({})",
            numbers.join(", ")
        );
        let mut found = Vec::new();
        for chunk in digests.chunks(AT_ONCE) {
            let mut values: Vec<Value> = vec![id.into()];
            let repeated = chunk.iter().chain(std::iter::repeat(&chunk[chunk.len() - 1]));
            values.extend(repeated.take(AT_ONCE).map(|digest| digest.0.as_slice().into()));
            found.extend(self.select(Query::new(sql.clone(), values), content).await?);
        }
        Ok(found)
    }
}

/// The log names contents by their digests, and so proves them too.
fn content(line: &dyn Columns) -> Result<(Digest, Vec<u8>), Damaged> {
    let (digest, bytes) = (decode::digest(line, 0)?, decode::blob(line, 1)?);
    if sha256(bytes) != digest {
        let found = format!("bytes that are not those of {digest}");
        return Err(Damaged::Meaningless { column: 1, found });
    }
    Ok((digest, bytes.to_vec()))
}

fn sha256(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}
