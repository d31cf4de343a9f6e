//! The contexts of the configuration file: which servers there are, and which one is meant.

mod args;
mod list;
mod remove;
mod select;
mod set;

pub(crate) use args::{ContextArgs, run};
