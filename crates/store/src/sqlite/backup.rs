use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{fault, files};
use crate::error::{BackupError, Cause};

/// Pages that are copied between two looks at the rest of the world.
const STEP: i32 = 1_024;

/// Copies a database to a new file. One read transaction covers the whole copy, so that appends do
/// not make it start again; the write-ahead log grows until it is done.
pub(super) async fn copy(from: &Path, to: &Path) -> Result<(), BackupError> {
    let (from, to) = (from.to_owned(), to.to_owned());
    let path = to.clone();
    let copied = tokio::task::spawn_blocking(move || copy_now(&from, &to)).await;
    copied.unwrap_or_else(|error| Err(BackupError::Failed { path, source: error.into() }))
}

/// Copies a database, and waits until the copy is on the disk.
pub(super) fn copy_now(from: &Path, to: &Path) -> Result<(), BackupError> {
    let failed = |source: Cause| BackupError::Failed { path: to.to_owned(), source };
    match File::create_new(to) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(BackupError::Exists(to.to_owned()));
        }
        Err(error) => return Err(failed(error.into())),
    }
    copy_pages(from, to).map_err(|error| {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut leftover = to.as_os_str().to_owned();
            leftover.push(suffix);
            // The first error is the one worth telling.
            let _ = std::fs::remove_file(PathBuf::from(leftover));
        }
        failed(match error.downcast::<rusqlite::Error>() {
            Ok(error) => fault::cause(*error),
            Err(other) => other,
        })
    })
}

fn copy_pages(from: &Path, to: &Path) -> Result<(), Cause> {
    let source = files::open_read_only(from)?;
    source.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
    let mut target = Connection::open(to)?;
    {
        let backup = Backup::new(&source, &mut target)?;
        loop {
            match backup.step(STEP)? {
                StepResult::Done => break,
                StepResult::More => std::thread::yield_now(),
                other => return Err(format!("the copy stopped: {other:?}").into()),
            }
        }
    }
    target.close().map_err(|(_, error)| error)?;
    File::open(to)?.sync_all()?;
    if let Some(dir) = to.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        File::open(dir)?.sync_all()?;
    }
    Ok(())
}
