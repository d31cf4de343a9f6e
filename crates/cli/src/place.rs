use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use seaway_model::Name;
use seaway_store::{Store, StoreError};

use crate::failure::WrongUsage;

/// Where a data directory is looked for if nothing else is said.
pub(crate) const DEFAULT_DATA: &str = "./seaway-data";

/// The file that makes a directory a data directory.
const DATABASE: &str = "seaway.db";

/// How many projects an error message names.
const NAMED: usize = 20;

/// Under which heading the help lists where the log is.
const PLACE: &str = "Where to look";

/// Where the log is.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceArgs {
    /// The data directory, which may be in use [env: SEAWAY_DATA] [default: ./seaway-data]
    #[arg(long, global = true, help_heading = PLACE, value_name = "DIR")]
    data: Option<PathBuf>,

    /// A PostgreSQL database instead: postgres://user@host:port/database
    #[arg(long, global = true, help_heading = PLACE, value_name = "URL")]
    database_url: Option<String>,
}

impl PlaceArgs {
    /// Opens the store for looking at it.
    pub(crate) async fn open(&self) -> Result<Store> {
        match &self.database_url {
            Some(url) => Ok(Store::postgres_read_only(url).await?),
            None => open_directory(&self.directory()),
        }
    }

    /// Whether a store is named on the command line.
    pub(crate) fn names_one(&self) -> bool {
        self.data.is_some() || self.database_url.is_some()
    }

    fn directory(&self) -> PathBuf {
        let set = || env::var_os("SEAWAY_DATA").filter(|it| !it.is_empty()).map(PathBuf::from);
        self.data.clone().or_else(set).unwrap_or_else(|| DEFAULT_DATA.into())
    }
}

fn open_directory(dir: &Path) -> Result<Store> {
    let shown = dir.display();
    match dir.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!(
                "there is no directory {shown}; name the data directory with --data or SEAWAY_DATA"
            )
        }
        Err(error) => return Err(error).context(format!("{shown} cannot be looked at")),
        Ok(it) if !it.is_dir() => {
            bail!("{shown} is a file; name the data directory that it is in")
        }
        Ok(_) => {}
    }
    match dir.join(DATABASE).metadata() {
        Ok(it) if it.is_file() => {}
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).context(format!("the directory {shown} cannot be looked into"));
        }
        _ => bail!(
            "the directory {shown} holds no {DATABASE}, so it is no data directory; use another"
        ),
    }
    Ok(Store::sqlite_read_only(dir)?)
}

/// The project that was named, or the only one there is.
pub(crate) async fn project(store: &Store, named: Option<&Name>) -> Result<Name> {
    let Some(named) = named else { return only_project(store).await };
    match store.head(named).await {
        Ok(_) => Ok(named.clone()),
        Err(StoreError::UnknownProject(_)) => {
            let known = list(&store.projects(None, NAMED + 1).await?);
            bail!("there is no project {named} here; there is {known}")
        }
        Err(error) => Err(error.into()),
    }
}

async fn only_project(store: &Store) -> Result<Name> {
    let mut projects = store.projects(None, NAMED + 1).await?;
    match projects.len() {
        0 => bail!("there is no project here yet; start a deployment first"),
        1 => Ok(projects.remove(0)),
        _ => {
            let known = list(&projects);
            Err(WrongUsage(format!("there are several projects; name one of {known}")).into())
        }
    }
}

fn list(projects: &[Name]) -> String {
    let shown: Vec<&str> = projects.iter().take(NAMED).map(Name::as_str).collect();
    match projects.len() {
        0 => "none".to_owned(),
        n if n > NAMED => format!("{} and others", shown.join(", ")),
        _ => shown.join(", "),
    }
}
