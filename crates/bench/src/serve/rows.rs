use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags};
use seaway_model::Fact;

use super::work::{PROJECT, STAGE};

/// How many rows each table of a data directory has that nobody uses any more.
pub(super) fn rows(dir: &Path) -> Result<BTreeMap<String, u32>> {
    let connection = open(dir)?;
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut tables = connection.prepare(sql)?;
    let names = tables.query_map((), |row| row.get::<_, String>(0))?;
    let mut counts = BTreeMap::new();
    for name in names {
        let name = name?;
        let sql = format!("SELECT count(*) FROM \"{name}\"");
        let count: u32 = connection.query_row(&sql, (), |row| row.get(0))?;
        counts.insert(name, count);
    }
    Ok(counts)
}

/// How many sequences of the load have ended well, according to what is on the disk.
pub(super) fn finished(dir: &Path) -> Result<u32> {
    let sql =
        "SELECT count(*) FROM span s JOIN target t ON t.project = s.project AND t.id = s.place
         WHERE t.path = ?1 AND s.ending = ?2";
    // A stage ends with its only sequence.
    let place = format!("{PROJECT}/{STAGE}");
    let count = open(dir)?.query_row(sql, (place, Fact::Finished.code()), |row| row.get(0));
    count.context("counting the sequences that have ended")
}

fn open(dir: &Path) -> Result<Connection> {
    let path = dir.join("seaway.db");
    let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    opened.context("opening the database of a server")
}
