//! The load: one process that triggers sequences and is the executor of their tasks.

mod claims;
mod hands;
mod project;
mod report;
mod run;
mod shift;

pub(crate) use project::{apply, verify};
pub(crate) use report::Report;
pub(crate) use run::{Load, load};
