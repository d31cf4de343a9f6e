use std::path::PathBuf;

use anyhow::{Context, Result};
use tempfile::TempDir;

/// A directory that is gone afterwards, beside what cargo builds: unlike the usual place for
/// temporary files that is a real disk.
pub(crate) fn directory() -> Result<TempDir> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    std::fs::create_dir_all(&target).context("making a place for databases")?;
    let made = tempfile::Builder::new().prefix("seaway-bench-").tempdir_in(&target);
    made.with_context(|| format!("making a directory in {}", target.display()))
}
