use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::fault;
use crate::error::OpenError;

pub(super) const DATABASE: &str = "seaway.db";
pub(super) const LOCK: &str = "seaway.lock";

/// Older versions can corrupt a database in WAL mode when a checkpoint and a write meet.
const OLDEST: (i32, &str) = (3_051_003, "3.51.3");

/// How long a connection waits for another one, such as a person's shell, to let go of the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// A data directory that belongs to this process for as long as the value lives.
#[derive(Debug)]
pub(super) struct DataDir {
    path: PathBuf,
    lock: File,
}

impl DataDir {
    pub(super) fn lock(path: &Path) -> Result<Self, OpenError> {
        let unusable = |source: std::io::Error| OpenError::Unusable {
            place: format!("the data directory {}", path.display()),
            source: source.into(),
        };
        std::fs::create_dir_all(path).map_err(unusable)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path.join(LOCK)).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                file.read_to_string(&mut pid).map_err(unusable)?;
                let pid = match pid.trim() {
                    "" => "(it is just starting)".to_owned(),
                    pid => pid.to_owned(),
                };
                return Err(OpenError::Locked { dir: path.to_owned(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        // On a full disk the number cannot be written; the lock holds without it.
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        if let Err(error) = written {
            tracing::warn!(%error, "the lock file does not name this process");
        }
        Ok(Self { path: path.to_owned(), lock: file })
    }

    pub(super) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }
}

impl Drop for DataDir {
    /// Closing the file is not enough: a child process that is just being started has it open, too,
    /// for a moment, and would keep the directory locked for the next owner.
    fn drop(&mut self) {
        if let Err(error) = self.lock.unlock() {
            tracing::warn!(%error, "the data directory stays locked until this process ends");
        }
    }
}

/// Opens a database without changing anything in it.
pub(super) fn open(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    connect(path, flags)
}

/// Opens a database for reading. Where not even the files beside it can be made, as in a backup on
/// a read-only disk, it is read as it is, provided that nothing is left in a write-ahead log.
pub(super) fn open_read_only(path: &Path) -> Result<Connection, OpenError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let probe = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    let refused = probe.is_err_and(|error| {
        use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
        matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly))
    });
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if !refused || Path::new(&log).exists() {
        return Ok(connection);
    }
    let text = path.to_string_lossy();
    let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let address = format!("file:{escaped}?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connect(Path::new(&address), flags)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, OpenError> {
    if rusqlite::version_number() < OLDEST.0 {
        return Err(OpenError::OldSqlite { needed: OLDEST.1, found: rusqlite::version() });
    }
    let opened = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .and_then(|connection| {
            connection.busy_timeout(PATIENCE)?;
            connection.set_prepared_statement_cache_capacity(128);
            // A reader starts anew after every append; what the system keeps of the file is enough.
            connection.pragma_update(None, "cache_size", -512)?;
            // Otherwise statements are planned again whenever other values are bound to them.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            Ok(connection)
        });
    opened.map_err(|error| fault::while_opening(path, error))
}

/// Makes every commit of this connection wait for the disk. Checkpoints of the write-ahead log are
/// left to the writer, which looks at their errors; SQLite by itself would not.
pub(super) fn make_durable(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = OFF; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -16384;
         PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY;";
    let mode = connection.execute_batch(settings).and_then(|()| {
        connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0))
    });
    match mode {
        Ok(mode) if mode == "wal" => Ok(()),
        Ok(mode) => Err(OpenError::Unusable {
            place: format!("the disk under {}", path.display()),
            source: format!("it allows journal mode {mode} only, not wal").into(),
        }),
        Err(error) => Err(fault::while_opening(path, error)),
    }
}
