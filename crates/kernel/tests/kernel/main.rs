//! Behaviour of the kernel through its public door.

mod against_reference;
mod applying;
mod approvals;
mod examples;
mod fuzz;
mod harness;
mod plan;
mod regressions;
mod shipyards;
mod takers;
