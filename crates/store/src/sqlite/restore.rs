use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use super::files::{self, DataDir};
use super::{backup, fault, schema};
use crate::error::{BackupError, Cause, OpenError, RestoreError};

/// The copy has this name until it was found to be sound.
const UNCHECKED: &str = "seaway.db.restoring";

/// Findings that are told about a damaged file.
const FINDINGS: &str = "SELECT integrity_check FROM pragma_integrity_check LIMIT 10";

pub(super) async fn copy(from: &Path, dir: &Path) -> Result<(), RestoreError> {
    let (from, to) = (from.to_owned(), dir.to_owned());
    let copied = tokio::task::spawn_blocking(move || copy_now(&from, &to)).await;
    copied.unwrap_or_else(|error| Err(failed(dir, error.into())))
}

fn copy_now(from: &Path, dir: &Path) -> Result<(), RestoreError> {
    recognise(from)?;
    // Both before the directory is touched at all and once nobody else can begin to use it.
    refuse_used(dir)?;
    let lock = DataDir::lock(dir)?;
    refuse_used(dir)?;
    let unchecked = dir.join(UNCHECKED);
    forget(&unchecked).map_err(|error| failed(dir, error.into()))?;
    let done = copy_checked(from, &unchecked, dir, &lock);
    if done.is_err() {
        // The first error is the one worth telling.
        let _ = forget(&unchecked);
    }
    done
}

fn recognise(from: &Path) -> Result<(), RestoreError> {
    if !from.is_file() {
        return Err(OpenError::Missing(from.to_owned()).into());
    }
    let connection = files::open_read_only(from)?;
    let version = schema::recognise(&connection, from)?;
    if version < 1 {
        return Err(OpenError::NoLog { place: from.display().to_string() }.into());
    }
    Ok(())
}

fn copy_checked(
    from: &Path,
    unchecked: &Path,
    dir: &Path,
    lock: &DataDir,
) -> Result<(), RestoreError> {
    backup::copy_now(from, unchecked).map_err(|error| match error {
        BackupError::Failed { source, .. } => failed(dir, source),
        other => failed(dir, other.into()),
    })?;
    check(from, unchecked)?;
    fs::rename(unchecked, lock.database())
        .and_then(|()| File::open(dir)?.sync_all())
        .map_err(|error| failed(dir, error.into()))
}

/// Reads every page and every index of the copy.
fn check(from: &Path, copy: &Path) -> Result<(), RestoreError> {
    let damaged = |findings: String| RestoreError::Damaged { file: from.to_owned(), findings };
    let connection = files::open(copy)?;
    let findings = connection.prepare(FINDINGS).and_then(|mut statement| {
        statement.query_map((), |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()
    });
    match findings {
        Ok(findings) if findings == ["ok"] => {}
        Ok(findings) => return Err(damaged(findings.join("; "))),
        Err(error) => return Err(damaged(fault::cause(error).to_string())),
    }
    // Closing it removes the files beside it.
    connection.close().map_err(|(_, error)| failed(copy, fault::cause(error)))
}

fn refuse_used(dir: &Path) -> Result<(), RestoreError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(dir, error.into())),
    };
    for entry in entries {
        let name = entry.map_err(|error| failed(dir, error.into()))?.file_name();
        let ours = name == files::LOCK || name.to_string_lossy().starts_with(UNCHECKED);
        if !ours {
            return Err(RestoreError::NotEmpty(dir.to_owned()));
        }
    }
    Ok(())
}

/// Removes what an interrupted copy has left.
fn forget(unchecked: &Path) -> std::io::Result<()> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut leftover = unchecked.as_os_str().to_owned();
        leftover.push(suffix);
        match fs::remove_file(&leftover) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn failed(dir: &Path, source: Cause) -> RestoreError {
    RestoreError::Failed { dir: dir.to_owned(), source }
}
