//! Files that belong to a project, a stage or a service.

mod args;
mod get;
mod list;
mod put;
mod remove;

pub(crate) use args::{ResourceArgs, run};
