use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::{Cause, OpenError, StoreError};

/// What an error of SQLite means for what happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A key is taken; the transaction goes on.
    Taken,
    /// Nothing was written, and it may work later.
    DiskFull,
    /// Another connection holds the file; nothing was written.
    Busy,
    Corrupt,
    /// The disk or the memory failed: what was written is no longer known.
    Broken,
    /// The statement was not to its taste; the transaction goes on.
    Odd,
}

impl Fault {
    pub(super) fn of(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => Self::Taken,
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt,
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Broken,
            _ => Self::Odd,
        }
    }
}

/// What SQLite says, once: its errors repeat themselves as their own causes.
pub(super) fn cause(error: rusqlite::Error) -> Cause {
    match &error {
        rusqlite::Error::SqliteFailure(code, Some(text)) => {
            format!("{text} (SQLite error {})", code.extended_code).into()
        }
        _ => error.to_string().into(),
    }
}

pub(super) fn while_opening(path: &Path, error: rusqlite::Error) -> OpenError {
    let place = path.display().to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            OpenError::Damaged { place, source: cause(error) }
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::DiskFull) => {
            OpenError::Unusable { place, source: cause(error) }
        }
        _ => OpenError::Failed { place, source: cause(error) },
    }
}

pub(super) fn while_reading(error: rusqlite::Error) -> StoreError {
    match Fault::of(&error) {
        Fault::Corrupt => StoreError::Corrupt(cause(error)),
        _ => StoreError::Unavailable(cause(error)),
    }
}
