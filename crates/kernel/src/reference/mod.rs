//! The rules of the kernel, written as naively as their text, kept as an oracle.
//!
//! Everything is worked out afresh from the records and the structure for every question: the
//! whole graph, `after` by flood fill, the frontier by a walk, permits by looking at everybody. It
//! shares no scheduling code with the kernel; tests drive both and compare.

mod dep;
mod fold;
mod ghosts;
mod graph;
mod judge;
mod permits;
mod reopen;
mod triggers;
mod walk;

pub use fold::Reference;
pub use judge::{Action, Wait};
