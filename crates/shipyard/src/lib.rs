//! The pipeline document: YAML text to a checked [`Shipyard`], with all problems of a file at once.
//!
//! Pure: texts in, values and texts out. Positions survive until everything is checked, because a
//! problem without a place is of little use to whoever wrote the file.

mod check;
mod code;
mod document;
pub mod limits;
mod migrate;
mod near;
mod parse;
mod plain;
mod problem;
mod problems;
pub mod reading;
mod report;
mod schema;
mod totals;
mod yaml;

pub use code::Code;
pub use document::{
    Batch, Dialect, Event, On, Policy, Promotion, Retries, Scope, Selector, Sequence, Shipyard,
    Stage, Task, TaskRange, Trigger, When,
};
pub use migrate::{Migrated, migrate};
pub use parse::{Checked, parse};
pub use plain::Plain;
pub use problem::{Also, Position, Problem, Severity};
pub use problems::Problems;
pub use schema::schema;
pub use totals::Totals;
