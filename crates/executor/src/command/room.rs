use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use seaway_api::CloudEvent;
use tempfile::TempDir;

/// A fresh directory for one command, which only this user may enter. Dropped, it is removed.
#[derive(Debug)]
pub(super) struct Room {
    dir: TempDir,
}

impl Room {
    pub(super) fn prepare(message: &CloudEvent) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("seaway-task-").tempdir()?;
        let room = Self { dir };
        fs::create_dir(room.work())?;
        fs::create_dir(room.scratch())?;
        fs::write(room.message(), serde_json::to_vec(message)?)?;
        Ok(room)
    }

    /// The task's message, as JSON.
    pub(super) fn message(&self) -> PathBuf {
        self.dir.path().join("message.json")
    }

    /// Where the command may write its result.
    pub(super) fn result(&self) -> PathBuf {
        self.dir.path().join("result.json")
    }

    /// Where the command runs, unless its definition says where.
    pub(super) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// For temporary files.
    pub(super) fn scratch(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    pub(super) fn clear(self) {
        let path = self.dir.path().to_owned();
        if fs::remove_dir_all(&path).is_ok() {
            return;
        }
        // Caches of packages are often made of directories that nothing may be removed from.
        unlock(&path);
        if let Err(error) = self.dir.close() {
            tracing::warn!(path = %path.display(), %error, "a directory could not be removed");
        }
    }
}

/// Makes directories writable, so that what is in them can be removed.
fn unlock(dir: &Path) {
    let mut next = vec![dir.to_owned()];
    while let Some(dir) = next.pop() {
        let _ = fs::set_permissions(&dir, Permissions::from_mode(0o700));
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        let dirs = entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir()));
        next.extend(dirs.map(|it| it.path()));
    }
}
