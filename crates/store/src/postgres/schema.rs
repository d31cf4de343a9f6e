use seaway_model::{Fact, Kind, Outcome};
use tokio_postgres::{Config, Error, Transaction};

use super::pool::{Access, Session};
use crate::error::OpenError;

/// The steps from an empty database to the schema of today; step n leads to version n. A step that
/// was released is never edited.
const STEPS: &[&str] = &[
    concat!(include_str!("schema/1.sql"), include_str!("schema/append.sql")),
    include_str!("schema/2.sql"),
    // It also makes the function anew that writes an append.
    concat!(include_str!("schema/3.sql"), include_str!("schema/append.sql")),
];

const VERSION: &str = "SELECT coalesce(max(version), 0) FROM seaway_schema";

/// Any number will do, as long as all versions of Seaway use the same one.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7378977117)";

/// Makes sure that a database has the schema of today, without changing anything.
pub(super) async fn check(config: &Config, place: &str) -> Result<(), OpenError> {
    let session = connect(config, Access::ReadOnly, place).await?;
    let failed = |error: Error| OpenError::Failed { place: place.to_owned(), source: error.into() };
    let there = "SELECT to_regclass('seaway_schema') IS NOT NULL";
    let there = session.client().query_one(there, &[]).await.and_then(|row| row.try_get(0));
    if !there.map_err(failed)? {
        return Err(OpenError::NoLog { place: place.to_owned() });
    }
    let version = session.client().query_one(VERSION, &[]).await.and_then(|row| row.try_get(0));
    let (found, known) = (version.map_err(failed)?, STEPS.len() as i64);
    match found {
        0 => Err(OpenError::NoLog { place: place.to_owned() }),
        found if found > known => Err(OpenError::Newer { found, known }),
        found if found < known => Err(OpenError::Older { found, known }),
        _ => Ok(()),
    }
}

async fn connect(config: &Config, access: Access, place: &str) -> Result<Session, OpenError> {
    let connected = Session::connect(config, access).await;
    connected.map_err(|error| OpenError::Unusable { place: place.to_owned(), source: error.into() })
}

/// Brings a database to the schema of today, all or nothing, one process at a time.
pub(super) async fn migrate(config: &Config, place: &str) -> Result<(), OpenError> {
    let mut session = connect(config, Access::ReadWrite, place).await?;
    let failed = |error: Error| OpenError::Failed { place: place.to_owned(), source: error.into() };
    let transaction = session.client_mut().transaction().await.map_err(failed)?;
    let found = version(&transaction).await.map_err(failed)?;
    let known = STEPS.len() as i64;
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    let missing = usize::try_from(found).map_or(STEPS, |found| &STEPS[found..]);
    apply(&transaction, missing).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)
}

async fn version(transaction: &Transaction<'_>) -> Result<i64, Error> {
    transaction.execute(LOCK, &[]).await?;
    let table = "SET LOCAL client_min_messages = warning;
         CREATE TABLE IF NOT EXISTS seaway_schema (version BIGINT NOT NULL)";
    transaction.batch_execute(table).await?;
    transaction.query_one(VERSION, &[]).await?.try_get(0)
}

async fn apply(transaction: &Transaction<'_>, steps: &[&str]) -> Result<(), Error> {
    for step in steps {
        transaction.batch_execute(step).await?;
    }
    if !steps.is_empty() {
        let version = STEPS.len() as i64;
        transaction.execute("DELETE FROM seaway_schema", &[]).await?;
        transaction.execute("INSERT INTO seaway_schema VALUES ($1)", &[&version]).await?;
    }
    let kinds = Kind::ALL.iter().map(|word| (word.code(), word.as_str()));
    words(transaction, "kind", kinds.unzip()).await?;
    let facts = Fact::ALL.iter().map(|word| (word.code(), word.as_str()));
    words(transaction, "fact", facts.unzip()).await?;
    let outcomes = Outcome::ALL.iter().map(|word| (word.code(), word.as_str()));
    words(transaction, "outcome", outcomes.unzip()).await
}

async fn words(
    transaction: &Transaction<'_>,
    table: &str,
    (codes, names): (Vec<u8>, Vec<&str>),
) -> Result<(), Error> {
    let codes: Vec<i64> = codes.into_iter().map(i64::from).collect();
    let sql = format!(
        "INSERT INTO {table} SELECT * FROM unnest($1::BIGINT[], $2::TEXT[]) ON CONFLICT DO NOTHING"
    );
    transaction.execute(&sql, &[&codes, &names]).await.map(|_| ())
}
