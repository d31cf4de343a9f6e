//! The whole test run: its parts in order, and the report at its end.

mod output;
mod part;
mod report;
mod run;

pub(crate) use part::Part;
pub(crate) use run::run;
