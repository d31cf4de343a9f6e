use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::failure::WrongUsage;

/// Where the data of the demo lies.
#[derive(Debug)]
pub(super) enum Berth {
    /// Removed at the end, also when the process panics.
    Temporary(TempDir),
    Kept(PathBuf),
}

impl Berth {
    pub(super) fn prepare(keep: Option<PathBuf>) -> Result<Self> {
        let Some(dir) = keep else {
            let dir = tempfile::Builder::new().prefix("seaway-demo-").tempdir();
            return Ok(Self::Temporary(dir.context("there is no place for temporary files")?));
        };
        // The demo writes the history of a new project; that of another one is left alone.
        let used = fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some());
        if used {
            let shown = dir.display();
            let advice = format!("{shown} is not empty; keep the data in a new directory");
            return Err(WrongUsage(advice).into());
        }
        Ok(Self::Kept(dir))
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Temporary(dir) => dir.path(),
            Self::Kept(dir) => dir,
        }
    }

    /// Removes what is temporary, and gives what stays.
    pub(super) fn leave(self) -> Result<Option<PathBuf>> {
        match self {
            Self::Temporary(dir) => {
                let shown = dir.path().display().to_string();
                dir.close().with_context(|| format!("{shown} could not be removed"))?;
                Ok(None)
            }
            Self::Kept(dir) => Ok(Some(dir)),
        }
    }
}
