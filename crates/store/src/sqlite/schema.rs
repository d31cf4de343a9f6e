use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use seaway_model::{Fact, Kind, Outcome};

use super::fault;
use crate::error::OpenError;

/// The steps from an empty file to the schema of today; step n leads to version n. A step that was
/// released is never edited.
const STEPS: &[&str] =
    &[include_str!("schema/1.sql"), include_str!("schema/2.sql"), include_str!("schema/3.sql")];

/// The version of a database, which a newer program must not have written.
fn version(connection: &Connection, path: &Path) -> Result<i64, OpenError> {
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    let found: i64 = version.map_err(|error| fault::while_opening(path, error))?;
    let known = STEPS.len() as i64;
    if found > known { Err(OpenError::Newer { found, known }) } else { Ok(found) }
}

/// Makes sure that a database has the schema of today, without changing anything.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let (found, known) = (recognise(connection, path)?, STEPS.len() as i64);
    if found < known { Err(OpenError::Older { found, known }) } else { Ok(()) }
}

/// Makes sure that a database holds logs that this program understands, or can upgrade, and gives
/// its version. A file that belongs to someone else, or whose first writer was killed before it
/// wrote, holds none.
pub(super) fn recognise(connection: &Connection, path: &Path) -> Result<i64, OpenError> {
    let tables = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('project', 'record')",
        (),
        |row| row.get::<_, i64>(0),
    );
    if tables.map_err(|error| fault::while_opening(path, error))? != 2 {
        return Err(OpenError::NoLog { place: path.display().to_string() });
    }
    version(connection, path)
}

/// Brings a database to the schema of today, all or nothing. One that has it is not written to.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let found = version(connection, path)?;
    let missing = usize::try_from(found).map_or(STEPS, |found| &STEPS[found..]);
    apply(connection, missing).map_err(|error| fault::while_opening(path, error))
}

fn apply(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in steps {
        transaction.execute_batch(step)?;
    }
    if !steps.is_empty() {
        transaction.pragma_update(None, "user_version", STEPS.len() as i64)?;
    }
    words(&transaction, "kind", Kind::ALL.iter().map(|word| (word.code(), word.as_str())))?;
    words(&transaction, "fact", Fact::ALL.iter().map(|word| (word.code(), word.as_str())))?;
    words(&transaction, "outcome", Outcome::ALL.iter().map(|word| (word.code(), word.as_str())))?;
    transaction.commit()?;
    if !steps.is_empty() {
        // What the planner knows about the tables was read before they were there.
        connection.execute_batch("ANALYZE sqlite_schema")?;
    }
    Ok(())
}

fn words(
    transaction: &Transaction<'_>,
    table: &str,
    words: impl Iterator<Item = (u8, &'static str)>,
) -> rusqlite::Result<()> {
    let sql = format!("INSERT OR IGNORE INTO {table} (id, name) VALUES (?1, ?2)");
    let mut insert = transaction.prepare(&sql)?;
    for word in words {
        insert.execute(word)?;
    }
    Ok(())
}
