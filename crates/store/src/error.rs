use std::path::PathBuf;

use seaway_model::{DeploymentId, Epoch, Name, Seq, TargetError, TargetId};
use seaway_wire::{ArchiveBreak, ChainBreak};

/// Whatever a database driver had to say.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a store could not be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "the data directory {} is in use by process {pid}; stop that process, or choose another \
         directory", dir.display()
    )]
    Locked { dir: PathBuf, pid: String },
    #[error("there is no store at {}; check the path", .0.display())]
    Missing(PathBuf),
    #[error("{place} holds no log of Seaway (yet); check the place")]
    NoLog { place: String },
    #[error(
        "the store has schema version {found}, which this program cannot read without upgrading it \
         to {known}; use the program that wrote it"
    )]
    Older { found: i64, known: i64 },
    #[error(
        "the store has schema version {found}, but this program knows versions up to {known}; use \
         the program that wrote it, or a newer one"
    )]
    Newer { found: i64, known: i64 },
    #[error("{place} is not a store or is damaged; restore a backup of it")]
    Damaged { place: String, source: Cause },
    #[error("this program needs SQLite {needed} or newer, but was built with {found}")]
    OldSqlite { needed: &'static str, found: &'static str },
    #[error("{place} cannot be used; check that it exists and that this process may write to it")]
    Unusable { place: String, source: Cause },
    #[error("the store {place} cannot be opened")]
    Failed { place: String, source: Cause },
}

/// Why a question, or a small change beside the log, was not answered.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("project {0} does not exist; create it first")]
    UnknownProject(Name),
    #[error(
        "records of deployment {deployment} are archived, up to position {base}; it can be read \
         from the archive, but not be gone on with"
    )]
    Archived { deployment: DeploymentId, base: Seq },
    #[error("what was to be kept is malformed: {0}")]
    Malformed(&'static str),
    #[error("the disk of the store is full and nothing was written; free some space")]
    DiskFull,
    #[error("the store was opened for reading only")]
    ReadOnly,
    #[error("the store did not answer; try again, and look at its own log if this goes on")]
    Unavailable(#[source] Cause),
    #[error("the store failed and takes no more writes; restart this process")]
    Failed(#[source] Cause),
    #[error("the store is damaged; restore a backup of it")]
    Corrupt(#[source] Cause),
}

/// Why an append was not acknowledged. Except for [`AppendError::Unavailable`] and
/// [`AppendError::Failed`] nothing of it was written.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    #[error("another process owns the project now (epoch {current}); load the project again")]
    Fenced { current: Epoch },
    #[error("the log goes on at {expected}, but the append begins at {found}; load it again")]
    Position { expected: Seq, found: Seq },
    /// `seq` is the record that repeats something or, where the database does not say which one
    /// it is, the first of the append.
    #[error(
        "the append at {seq} repeats the key of a record or an answer, a path or a deployment of \
         the log; this is a bug of whoever made it"
    )]
    Duplicate { seq: Seq },
    #[error("the append is malformed: {0}")]
    Malformed(&'static str),
    #[error("project {0} does not exist; create it first")]
    UnknownProject(Name),
    #[error("the disk of the store is full and nothing was written; free some space")]
    DiskFull,
    #[error("the store was opened for reading only")]
    ReadOnly,
    #[error("the store was lost, and the append may be durable or not; load the project again")]
    Unavailable(#[source] Cause),
    #[error("the store failed, and the append may be durable or not; restart this process")]
    Failed(#[source] Cause),
    #[error("the store is damaged; restore a backup of it")]
    Corrupt(#[source] Cause),
}

/// What a verification found first.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Chain(#[from] ChainBreak),
    #[error("the log ends at {found}, but {expected} records were written")]
    Truncated { expected: Seq, found: Seq },
    #[error("the last record is not the one that the project's head names")]
    Head,
    #[error("record {seq} names target {target}, which does not exist")]
    UnknownTarget { seq: Seq, target: TargetId },
    #[error("target {id} is stored as {found:?}, but its parents make it {expected:?}")]
    Path { id: TargetId, expected: String, found: Box<str> },
    #[error("target {id} is stored with place {found}, but its path makes that {expected}")]
    Place { id: TargetId, expected: TargetId, found: TargetId },
    #[error("target {id} repeats {path:?}, which has a number already")]
    DoubleTarget { id: TargetId, path: Box<str> },
    #[error("the targets are damaged")]
    Targets(#[from] TargetError),
    /// The log is what was written, but what is kept beside it, or another project, is not.
    #[error("other parts of the store are damaged; restore a backup of it: {0}")]
    Elsewhere(String),
}

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{} exists; a backup never overwrites a file", .0.display())]
    Exists(PathBuf),
    #[error("PostgreSQL is backed up with its own tools; use pg_dump")]
    UsePgDump,
    #[error("the backup {} could not be written and was removed", path.display())]
    Failed { path: PathBuf, source: Cause },
}

/// Why nothing was archived. The log is as it was, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("everything up to {base} is archived already; name a later position")]
    Nothing { base: Seq },
    /// Without what a checkpoint holds the log could not be loaded any more.
    #[error(
        "the log can be archived up to {possible} only, not up to {upto}: loading the project \
         needs what is behind it until there is a newer checkpoint; try again later, or archive \
         less"
    )]
    TooFar { upto: Seq, possible: Seq },
    #[error("{} exists; an archive never overwrites a file", .0.display())]
    Exists(PathBuf),
    #[error("the log is broken; verify it, and restore a backup")]
    Log(#[source] ArchiveBreak),
    #[error("{} is not a sound archive", path.display())]
    Broken { path: PathBuf, source: ArchiveBreak },
    #[error("the archive {} could not be written or read", path.display())]
    Failed { path: PathBuf, source: Cause },
}

/// Why a backup was not restored. Nothing is in the directory that was not there before, except
/// for its lock.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error(transparent)]
    Unusable(#[from] OpenError),
    #[error("{} is not empty; choose a directory that is empty or does not exist", .0.display())]
    NotEmpty(PathBuf),
    #[error("the backup {} is damaged; take another one: {findings}", file.display())]
    Damaged { file: PathBuf, findings: String },
    #[error("the backup could not be copied to {}", dir.display())]
    Failed { dir: PathBuf, source: Cause },
}

impl From<StoreError> for AppendError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::UnknownProject(name) => Self::UnknownProject(name),
            StoreError::Archived { .. } => Self::Malformed("it goes on with what is archived"),
            StoreError::Malformed(what) => Self::Malformed(what),
            StoreError::DiskFull => Self::DiskFull,
            StoreError::ReadOnly => Self::ReadOnly,
            StoreError::Unavailable(cause) => Self::Unavailable(cause),
            StoreError::Failed(cause) => Self::Failed(cause),
            StoreError::Corrupt(cause) => Self::Corrupt(cause),
        }
    }
}
