//! PostgreSQL: one database that several processes share.

mod append;
mod fault;
mod log;
mod pool;
mod raw;
mod schema;
mod values;

pub use log::Postgres;
pub use raw::Raw;
