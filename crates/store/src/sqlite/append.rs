use rusqlite::{Connection, OptionalExtension, params};
use seaway_model::{Epoch, Fact, Seq, Timestamp};
use seaway_wire::{Append, SpanEdit};

use super::fault::Fault;
use crate::error::AppendError;
use crate::log_store::int;
use crate::shape::place_path;

/// Why an append was not written: it is wrong, or SQLite is in trouble.
#[derive(Debug)]
pub(super) enum NotWritten {
    Refused(AppendError),
    Broken(rusqlite::Error),
}

impl From<rusqlite::Error> for NotWritten {
    fn from(error: rusqlite::Error) -> Self {
        match Fault::of(&error) {
            // Such an append must not take those of other projects down with it.
            Fault::Taken | Fault::Odd => {
                Self::Refused(AppendError::Malformed("SQLite does not accept a value in it"))
            }
            Fault::DiskFull | Fault::Busy | Fault::Corrupt | Fault::Broken => Self::Broken(error),
        }
    }
}

const RECORD: &str = "INSERT INTO record (project, seq, at, deployment, target, revision, kind,
       fact, attempt, n, outcome, data, cause, \"by\", hash)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

const TARGET: &str =
    "INSERT INTO target (project, id, parent, part, path, place, since, place_path)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const DEPLOYMENT: &str = "INSERT INTO deployment (project, id, service, version, revision, seq)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const ANSWER: &str = "INSERT INTO answer (project, key, at, deployment, revision)
     VALUES (?1, ?2, ?3, ?4, ?5)";

/// Apart from the insertion: a statement that reads the table it writes to makes a temporary one.
const IS_OPEN: &str = "SELECT 1 FROM span
     WHERE project = ?1 AND place = ?2 AND deployment = ?3 AND closed IS NULL";

const OPEN: &str = "INSERT INTO span (project, place, deployment, opened, revision, service)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const CLOSE: &str = "UPDATE span SET closed = ?4, ending = ?5
     WHERE project = ?1 AND place = ?2 AND deployment = ?3 AND closed IS NULL";

/// Only an ending that has a latest revision needs to know the best one so far.
const CLOSE_RANKED: &str = "UPDATE span SET closed = ?4, ending = ?5,
       best = coalesce(
         (SELECT b.closed FROM span b WHERE b.project = ?1 AND b.place = ?2 AND b.ending = ?5
          AND b.revision > span.revision AND b.closed =
            (SELECT l.best FROM span l WHERE l.project = ?1 AND l.place = ?2 AND l.ending = ?5
             ORDER BY l.closed DESC LIMIT 1)), ?4),
       best_of_service = coalesce(
         (SELECT b.closed FROM span b WHERE b.project = ?1 AND b.place = ?2
          AND b.service = span.service AND b.ending = ?5 AND b.revision > span.revision
          AND b.closed =
            (SELECT l.best_of_service FROM span l WHERE l.project = ?1 AND l.place = ?2
             AND l.service = span.service AND l.ending = ?5 AND l.closed IS NOT NULL
             ORDER BY l.closed DESC LIMIT 1)), ?4)
     WHERE project = ?1 AND place = ?2 AND deployment = ?3 AND closed IS NULL";

const REOPEN: &str = "INSERT INTO span (project, place, deployment, opened, revision, service)
     SELECT project, place, deployment, ?4, revision, service FROM
       (SELECT * FROM span WHERE project = ?1 AND place = ?2 AND deployment = ?3
        ORDER BY opened DESC LIMIT 1) WHERE closed IS NOT NULL";

/// Writes an append inside a transaction that somebody else began and will end.
pub(super) fn write(connection: &Connection, append: &Append) -> Result<(), NotWritten> {
    let project = check(connection, append)?;
    let mut insert = connection.prepare_cached(RECORD)?;
    for row in &append.rows {
        let written = insert.execute(params![
            project,
            int(row.seq.0),
            row.at.0,
            row.deployment.as_ref().map(|id| id.0.as_bytes().as_slice()),
            row.target.0,
            row.revision.map(|revision| int(revision.0)),
            row.kind.code(),
            row.fact.code(),
            row.attempt.0,
            row.n,
            row.outcome.map(|outcome| outcome.code()),
            row.data.as_deref(),
            row.cause.map(|cause| int(cause.0)),
            &*row.by,
            row.hash.0.as_slice(),
        ]);
        unique(written, row.seq)?;
    }
    write_targets(connection, project, append)?;
    for edit in &append.spans {
        write_span(connection, project, edit)?;
    }
    let mut insert = connection.prepare_cached(DEPLOYMENT)?;
    for start in &append.starts {
        let id = start.deployment.0.as_bytes().as_slice();
        let (service, version) = (start.service.as_str(), &*start.version);
        let (revision, seq) = (int(start.revision.0), int(start.seq.0));
        let written = insert.execute(params![project, id, service, version, revision, seq]);
        unique(written, start.seq)?;
    }
    write_answers(connection, project, append)?;
    let last = append.rows.last().expect("the shape of the append was checked");
    connection
        .prepare_cached("UPDATE project SET head = ?2, hash = ?3, at = ?4 WHERE id = ?1")?
        .execute(params![project, int(last.seq.0), last.hash.0.as_slice(), last.at.0])?;
    Ok(())
}

/// Compares the owner and the end of the log with what the append assumes.
fn check(connection: &Connection, append: &Append) -> Result<i64, NotWritten> {
    let mut select =
        connection.prepare_cached("SELECT id, epoch, head, at FROM project WHERE name = ?1")?;
    let found = select.query_row([append.project.as_str()], |row| {
        let (epoch, head): (i64, i64) = (row.get(1)?, row.get(2)?);
        let (epoch, head) = (Epoch(epoch.unsigned_abs()), Seq(head.unsigned_abs()));
        Ok((row.get(0)?, epoch, head, Timestamp(row.get(3)?)))
    });
    let (id, epoch, head, at) = match found.optional()? {
        Some(found) => found,
        None => return refuse(AppendError::UnknownProject(append.project.clone())),
    };
    if append.epoch != epoch {
        return refuse(AppendError::Fenced { current: epoch });
    }
    let first = append.rows.first().expect("the shape of the append was checked");
    if first.seq != head.next() {
        return refuse(AppendError::Position { expected: head.next(), found: first.seq });
    }
    if first.at < at {
        return refuse(AppendError::Malformed("its times go back"));
    }
    Ok(id)
}

fn write_targets(connection: &Connection, project: i64, append: &Append) -> Result<(), NotWritten> {
    let mut insert = connection.prepare_cached(TARGET)?;
    // The project itself, which is number 0, was defined when it was created.
    for target in append.targets.iter().filter(|target| target.def.id.0 != 0) {
        let def = &target.def;
        let place_path = (def.place == def.id).then(|| place_path(&target.path));
        let written = insert.execute(params![
            project,
            def.id.0,
            def.parent.0,
            &*def.part,
            &*target.path,
            def.place.0,
            int(def.since.0),
            place_path.as_deref(),
        ]);
        unique(written, def.since)?;
    }
    Ok(())
}

fn write_answers(connection: &Connection, project: i64, append: &Append) -> Result<(), NotWritten> {
    if append.answers.is_empty() {
        return Ok(());
    }
    let mut insert = connection.prepare_cached(ANSWER)?;
    for answer in &append.answers {
        let deployment = answer.deployment.as_ref().map(|id| id.0.as_bytes().as_slice());
        let revision = answer.revision.map(|revision| int(revision.0));
        let (key, at) = (answer.key.0.as_slice(), int(answer.at.0));
        unique(insert.execute(params![project, key, at, deployment, revision]), answer.at)?;
    }
    Ok(())
}

fn write_span(connection: &Connection, project: i64, edit: &SpanEdit) -> Result<(), NotWritten> {
    match edit {
        SpanEdit::Open { place, deployment, revision, service, seq } => {
            let deployment = deployment.0.as_bytes().as_slice();
            let (opened, revision) = (int(seq.0), int(revision.0));
            let service = service.as_str();
            let mut is_open = connection.prepare_cached(IS_OPEN)?;
            if !is_open.exists(params![project, place.0, deployment])? {
                connection
                    .prepare_cached(OPEN)?
                    .execute(params![project, place.0, deployment, opened, revision, service])?;
            }
        }
        SpanEdit::Close { place, deployment, ending, seq } => {
            let sql = match ending {
                Fact::Finished | Fact::Failed => CLOSE_RANKED,
                _ => CLOSE,
            };
            let deployment = deployment.0.as_bytes().as_slice();
            connection.prepare_cached(sql)?.execute(params![
                project,
                place.0,
                deployment,
                int(seq.0),
                ending.code()
            ])?;
        }
        SpanEdit::Reopen { places, deployment, seq } => {
            let deployment = deployment.0.as_bytes().as_slice();
            for place in places {
                connection.prepare_cached(REOPEN)?.execute(params![
                    project,
                    place.0,
                    deployment,
                    int(seq.0)
                ])?;
            }
        }
    }
    Ok(())
}

fn unique(written: rusqlite::Result<usize>, seq: Seq) -> Result<(), NotWritten> {
    match written {
        Ok(_) => Ok(()),
        Err(error) if Fault::of(&error) == Fault::Taken => refuse(AppendError::Duplicate { seq }),
        Err(error) => Err(error.into()),
    }
}

fn refuse<T>(error: AppendError) -> Result<T, NotWritten> {
    Err(NotWritten::Refused(error))
}
