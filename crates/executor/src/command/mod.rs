//! One task as one command: a room for it, its environment, its limits, and what it amounts to.

mod capture;
mod environment;
mod invocation;
mod result_file;
mod room;
mod run;
mod verdict;

pub use environment::{Outer, RESERVED};
pub use run::{Cancelled, Ended, run};
pub use verdict::{Standing, Verdict};
