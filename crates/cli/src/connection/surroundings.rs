use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::connection::config::Config;
use crate::connection::place::ConfigFile;
use crate::connection::secret::Secret;
use crate::place::DEFAULT_DATA;

/// What a command finds around it, where its arguments leave something open.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    pub(super) url: Option<String>,
    pub(super) token: Option<Secret>,
    pub(super) ca_file: Option<PathBuf>,
    /// The local data directory.
    pub(super) data: PathBuf,
    pub(super) config: Config,
}

impl Surroundings {
    pub(super) fn look() -> Result<Self> {
        let set = |name: &str| env::var(name).ok().filter(|it| !it.is_empty());
        let config = ConfigFile::find().map(|file| file.read()).transpose()?;
        Ok(Self {
            url: set("SEAWAY_URL"),
            token: set("SEAWAY_TOKEN").map(Secret::new),
            ca_file: set("SEAWAY_CA_FILE").map(PathBuf::from),
            data: set("SEAWAY_DATA").unwrap_or_else(|| DEFAULT_DATA.to_owned()).into(),
            config: config.unwrap_or_default(),
        })
    }
}
