//! Commands about pipeline documents, which need no data directory.

mod lint;
mod migrate;
mod simulate;
mod source;
mod to;
mod verdict;
mod view;

pub(crate) use lint::{LintArgs, run as lint};
pub(crate) use migrate::{MigrateArgs, run as migrate};
pub(crate) use simulate::{SimulateArgs, run as simulate};
pub(crate) use source::read as read_text;
pub(crate) use view::View;
