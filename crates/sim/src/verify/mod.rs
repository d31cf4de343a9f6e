//! Checks a log against the guarantees, from its records alone. It shares the vocabulary of the
//! kernel (records, structures) and none of its rules.

mod after;
mod born;
mod families;
mod handouts;
mod introduced;
mod joins;
mod late;
mod layout;
mod ledger;
mod log;
mod once;
mod papers;
mod paths;
mod permits;
mod places;
mod shares;
mod skips;
mod steps;
mod told;
mod triggers;
mod violation;

pub(crate) use ledger::Status;
pub(crate) use log::Verifier;
pub(crate) use told::About;
pub use violation::{Rule, Violation};
