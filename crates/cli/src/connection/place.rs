use std::env;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use tempfile::NamedTempFile;

use crate::connection::config::Config;

/// The file with the contexts. There need not be one.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    path: PathBuf,
}

impl ConfigFile {
    /// Where the environment says that it is.
    pub(crate) fn find() -> Option<Self> {
        let set = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let path = set("SEAWAY_CONFIG").or_else(|| {
            let dir = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
            Some(dir.join("seaway").join("config.yaml"))
        });
        path.map(|path| Self { path })
    }

    /// For a command that needs the file.
    pub(crate) fn needed() -> Result<Self> {
        Self::find().ok_or_else(|| {
            anyhow!("there is no place for a configuration; name a file with SEAWAY_CONFIG")
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self) -> Result<Config> {
        let shown = self.path.display().to_string();
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Config::parse(&text, &shown)?),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Config::default()),
            Err(error) => Err(error).context(format!("the configuration {shown} cannot be read")),
        }
    }

    /// Replaces the file at once. It may hold tokens, so that others cannot read it.
    pub(crate) fn write(&self, config: &Config) -> Result<()> {
        let shown = self.path.display();
        let dir = self.path.parent().filter(|dir| *dir != Path::new(""));
        let dir = dir.unwrap_or(Path::new("."));
        let written = || -> std::io::Result<()> {
            fs::create_dir_all(dir)?;
            let mut file = NamedTempFile::new_in(dir)?;
            file.write_all(config.text().as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&self.path)?;
            Ok(())
        };
        written().with_context(|| format!("the configuration {shown} cannot be written"))
    }
}
