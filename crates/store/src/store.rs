use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use seaway_model::{Epoch, Name};
use seaway_wire::Append;

use crate::decode;
use crate::error::{AppendError, BackupError, OpenError, RestoreError, StoreError};
use crate::log_store::{Decode, LogStore, Query, Receipt, int};
use crate::postgres::Postgres;
use crate::question::Head;
use crate::sqlite::Sqlite;

/// The logs of all projects, in SQLite or in PostgreSQL. Copies share one store; it is closed, and
/// a data directory released, when the last copy is dropped.
#[derive(Clone, Debug)]
pub struct Store {
    backend: Backend,
    /// The numbers of projects, which never change.
    projects: Arc<Mutex<BTreeMap<Name, i64>>>,
}

#[derive(Clone, Debug)]
enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Store {
    /// Opens `seaway.db` in a data directory for this process alone, creating both if need be.
    pub fn sqlite(dir: &Path) -> Result<Self, OpenError> {
        Sqlite::open(dir).map(|sqlite| Self::new(Backend::Sqlite(sqlite)))
    }

    /// Opens `seaway.db` in a data directory for looking at it, whether or not a process uses it.
    pub fn sqlite_read_only(dir: &Path) -> Result<Self, OpenError> {
        Sqlite::open_read_only(dir).map(|sqlite| Self::new(Backend::Sqlite(sqlite)))
    }

    /// Connects to a database, given as `postgres://user@host:port/database`, which several
    /// processes may share.
    pub async fn postgres(url: &str) -> Result<Self, OpenError> {
        Ok(Self::new(Backend::Postgres(Postgres::connect(url).await?)))
    }

    /// Connects to a database for looking at it: nothing is created, upgraded or written.
    pub async fn postgres_read_only(url: &str) -> Result<Self, OpenError> {
        Ok(Self::new(Backend::Postgres(Postgres::connect_read_only(url).await?)))
    }

    fn new(backend: Backend) -> Self {
        Self { backend, projects: Arc::default() }
    }

    /// Makes a project, with an empty log that nobody owns. One that exists is left as it is.
    pub async fn create_project(&self, name: &Name) -> Result<(), StoreError> {
        let project = Query::new(
            "INSERT INTO project (name) VALUES (?1) ON CONFLICT (name) DO NOTHING",
            vec![name.as_str().into()],
        );
        let root = Query::new(
            "INSERT INTO target (project, id, parent, part, path, place, since, place_path)
             SELECT id, 0, 0, name, name, 0, 0, name FROM project WHERE name = ?1
             ON CONFLICT (project, id) DO NOTHING",
            vec![name.as_str().into()],
        );
        self.write(vec![project, root]).await.map(|_| ())
    }

    /// The projects whose names come after `after`, in order of their names.
    pub async fn projects(
        &self,
        after: Option<&Name>,
        limit: usize,
    ) -> Result<Vec<Name>, StoreError> {
        let query = Query::new(
            "SELECT name FROM project WHERE name > ?1 ORDER BY name LIMIT ?2",
            vec![after.map_or("", Name::as_str).into(), int(limit as u64).into()],
        );
        self.select(query, decode::first_name).await
    }

    /// Takes over a project, whoever holds a lease of it. From here on, appends of all earlier
    /// owners are refused.
    pub async fn acquire(&self, project: &Name, owner: &str) -> Result<Epoch, StoreError> {
        let query = Query::new(
            "UPDATE project SET epoch = epoch + 1, owner = ?2, lease = NULL WHERE name = ?1
             RETURNING epoch",
            vec![project.as_str().into(), owner.into()],
        );
        match self.write(vec![query]).await? {
            Some(epoch) => Ok(Epoch(epoch.unsigned_abs())),
            None => Err(StoreError::UnknownProject(project.clone())),
        }
    }

    /// Writes records and all that belongs to them, at the end of one project's log. When this
    /// returns `Ok` they are durable. They are written all or none; of the errors only
    /// `Unavailable` and `Failed` leave open which. A caller that stops waiting does not stop it.
    pub async fn append(&self, append: Append) -> Result<(), AppendError> {
        self.hand_in(append).await?.await
    }

    /// The first half of [`append`](Self::append), for a caller that hands in the next one before
    /// this one is answered. Only a store that [keeps their order](Self::keeps_order) allows that.
    pub async fn hand_in(&self, append: Append) -> Result<Receipt, AppendError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.hand_in(append).await,
            Backend::Postgres(postgres) => postgres.hand_in(append).await,
        }
    }

    /// Whether appends are written in the order in which they were handed in.
    #[must_use]
    pub fn keeps_order(&self) -> bool {
        match &self.backend {
            Backend::Sqlite(_) => Sqlite::KEEPS_ORDER,
            Backend::Postgres(_) => Postgres::KEEPS_ORDER,
        }
    }

    /// The last record of the log.
    pub async fn head(&self, project: &Name) -> Result<Head, StoreError> {
        let query = Query::new(
            "SELECT head, hash, at FROM project WHERE name = ?1",
            vec![project.as_str().into()],
        );
        let heads = self.select(query, decode::head).await?;
        heads.first().copied().ok_or_else(|| StoreError::UnknownProject(project.clone()))
    }

    /// Copies the whole store to a new file, while appends go on. The copy is the store as of the
    /// moment it began. PostgreSQL has tools of its own for this.
    pub async fn backup(&self, path: &Path) -> Result<(), BackupError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.backup(path).await,
            Backend::Postgres(postgres) => postgres.backup(path).await,
        }
    }

    /// Makes a data directory out of a backup. The file must be a sound database of a version that
    /// this program knows, and the directory empty or not there; nothing is ever overwritten. What
    /// is interrupted leaves a directory that can be restored to again.
    pub async fn restore(backup: &Path, dir: &Path) -> Result<(), RestoreError> {
        Sqlite::restore(backup, dir).await
    }

    pub(crate) async fn write(&self, statements: Vec<Query>) -> Result<Option<i64>, StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.write(statements).await,
            Backend::Postgres(postgres) => postgres.write(statements).await,
        }
    }

    pub(crate) async fn select<T: Send + 'static>(
        &self,
        query: Query,
        decode: Decode<T>,
    ) -> Result<Vec<T>, StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.select(query, decode).await,
            Backend::Postgres(postgres) => postgres.select(query, decode).await,
        }
    }

    /// The clock of the database, for use in a statement.
    pub(crate) fn now(&self) -> &'static str {
        match &self.backend {
            Backend::Sqlite(_) => Sqlite::NOW,
            Backend::Postgres(_) => Postgres::NOW,
        }
    }

    pub(crate) fn size_query(&self) -> Query {
        let sql = match &self.backend {
            Backend::Sqlite(_) => Sqlite::SIZE,
            Backend::Postgres(_) => Postgres::SIZE,
        };
        Query::new(sql, Vec::new())
    }

    /// What is wrong with the files of the store, as far as the database can tell.
    pub(crate) async fn findings(&self) -> Result<Vec<String>, StoreError> {
        let asked = match &self.backend {
            Backend::Sqlite(_) => Sqlite::FINDINGS,
            Backend::Postgres(_) => Postgres::FINDINGS,
        };
        let Some(sql) = asked else { return Ok(Vec::new()) };
        let mut findings = self.select(Query::new(sql, Vec::new()), decode::first_text).await?;
        findings.retain(|finding| finding != "ok");
        Ok(findings)
    }

    /// The number under which the tables know a project.
    pub(crate) async fn project_id(&self, name: &Name) -> Result<i64, StoreError> {
        let known = |store: &Self| {
            let projects = store.projects.lock().unwrap_or_else(PoisonError::into_inner);
            projects.get(name).copied()
        };
        if let Some(id) = known(self) {
            return Ok(id);
        }
        let query =
            Query::new("SELECT id FROM project WHERE name = ?1", vec![name.as_str().into()]);
        let ids = self.select(query, decode::first_int).await?;
        let id = *ids.first().ok_or_else(|| StoreError::UnknownProject(name.clone()))?;
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.insert(name.clone(), id);
        Ok(id)
    }
}
