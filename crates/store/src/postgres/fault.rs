use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::error::{OpenError, StoreError};

/// How long to wait for a server that does not answer at all.
const PATIENCE: Duration = Duration::from_secs(5);
/// A server that vanished says nothing at all; after so long it counts as lost.
const SILENCE: Duration = Duration::from_secs(20);

/// The codes with which PostgreSQL itself says what is wrong.
pub(super) const UNIQUE_VIOLATION: &str = "23505";
pub(super) const DISK_FULL: &str = "53100";
pub(super) const DATA_CORRUPTED: &str = "XX001";
pub(super) const INDEX_CORRUPTED: &str = "XX002";

pub(super) fn parse(url: &str) -> Result<Config, OpenError> {
    let parsed: Result<Config, _> = url.parse();
    let mut config = parsed.map_err(|error| OpenError::Unusable {
        // The address may hold a password and is not repeated.
        place: "the address of the PostgreSQL database".to_owned(),
        source: Box::new(error),
    })?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(PATIENCE);
        config.keepalives_interval(PATIENCE);
    }
    config.application_name("seaway");
    Ok(config)
}

/// The database as people know it, without the password.
pub(super) fn place(config: &Config) -> String {
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    });
    let hosts: Vec<String> = hosts.collect();
    let database = config.get_dbname().unwrap_or("(default)");
    format!("PostgreSQL database {database} at {}", hosts.join(", "))
}

pub(super) fn store_error(error: tokio_postgres::Error) -> StoreError {
    match error.as_db_error().map(|error| error.code().code().to_owned()).as_deref() {
        Some(DISK_FULL) => StoreError::DiskFull,
        Some(DATA_CORRUPTED | INDEX_CORRUPTED) => StoreError::Corrupt(error.into()),
        _ => StoreError::Unavailable(error.into()),
    }
}
