//! SQLite: one file in a data directory, used by one process.

mod append;
mod backup;
mod batch;
mod fault;
mod files;
mod log;
mod raw;
mod readers;
mod restore;
mod schema;
mod writer;

pub use log::Sqlite;
pub use raw::Raw;
