use std::path::Path;
use std::sync::Arc;

use seaway_wire::Append;

use super::files::{self, DataDir};
use super::readers::Readers;
use super::writer::Writer;
use super::{backup, restore, schema};
use crate::error::{AppendError, BackupError, OpenError, RestoreError, StoreError};
use crate::log_store::{Decode, LogStore, Query, Receipt};
use crate::shape;

/// The store of one data directory.
#[derive(Clone, Debug)]
pub struct Sqlite(Arc<Inner>);

/// The readers are closed before the writer, which tidies up when it is the last to leave.
#[derive(Debug)]
struct Inner {
    readers: Readers,
    writer: Option<Writer>,
}

impl Sqlite {
    pub(crate) fn open(dir: &Path) -> Result<Self, OpenError> {
        let dir = DataDir::lock(dir)?;
        let mut connection = files::open(&dir.database())?;
        schema::migrate(&mut connection, &dir.database())?;
        files::make_durable(&connection, &dir.database())?;
        let readers = Readers::new(dir.database());
        Ok(Self(Arc::new(Inner { readers, writer: Some(Writer::start(connection, dir)) })))
    }

    pub(crate) fn open_read_only(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join(files::DATABASE);
        if !path.is_file() {
            return Err(OpenError::Missing(path));
        }
        let connection = files::open_read_only(&path)?;
        schema::check(&connection, &path)?;
        Ok(Self(Arc::new(Inner { readers: Readers::new(path), writer: None })))
    }

    pub(crate) async fn restore(backup: &Path, dir: &Path) -> Result<(), RestoreError> {
        restore::copy(backup, dir).await
    }
}

impl LogStore for Sqlite {
    const SIZE: &'static str =
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";

    /// Looks at every page, but not whether each index has what its table has, which takes long.
    const FINDINGS: Option<&'static str> =
        Some("SELECT quick_check FROM pragma_quick_check LIMIT 10");

    const NOW: &'static str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

    /// One thread writes, in the order of its queue.
    const KEEPS_ORDER: bool = true;

    async fn hand_in(&self, append: Append) -> Result<Receipt, AppendError> {
        shape::check(&append)?;
        self.0.writer.as_ref().ok_or(AppendError::ReadOnly)?.append(append).await
    }

    async fn write(&self, statements: Vec<Query>) -> Result<Option<i64>, StoreError> {
        self.0.writer.as_ref().ok_or(StoreError::ReadOnly)?.write(statements).await
    }

    async fn select<T: Send + 'static>(
        &self,
        query: Query,
        decode: Decode<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.0.readers.select(query, decode).await
    }

    async fn backup(&self, path: &Path) -> Result<(), BackupError> {
        backup::copy(self.0.readers.path(), path).await
    }
}
