//! What runs tasks: a client of the executor protocol that carries tasks out as commands.

mod command;
mod definition;
mod process;
#[cfg(test)]
mod testing;
mod worker;

pub use command::{Cancelled, Ended, Outer, RESERVED, Standing, Verdict, run};
pub use definition::{Definition, Definitions, Fill, LoadError, Program, Template, Unreadable};
pub use worker::{Projects, Stop, Summary, Worker, WorkerError, WorkerOptions};
