//! Keeping a store: copies of it, and room in it.

mod archive;
mod backup;
mod completion;
mod restore;

pub(crate) use archive::{ArchiveArgs, run as archive};
pub(crate) use backup::{BackupArgs, run as backup};
pub(crate) use completion::{CompletionArgs, run as completion};
pub(crate) use restore::{RestoreArgs, run as restore};
