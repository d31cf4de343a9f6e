//! Deterministic worlds around the kernel and the engine's core: seeded faults, virtual time, and
//! an independent check of every promise after every step.

mod panics;
mod planted;
mod transcript;
mod verify;
mod world;

pub use panics::quiet;
pub use planted::{BUGS, Recorded, recorded};
pub use verify::{Rule, Violation};
pub use world::{Outcome, Rare, Tally, run};
