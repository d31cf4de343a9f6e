//! Shipyards of the format 0.1, which said what to do by strategies, as sequences of tasks.

mod convert;
mod old;
mod read;
mod write;

pub use convert::{Migrated, migrate};
