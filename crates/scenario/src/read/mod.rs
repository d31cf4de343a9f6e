//! From the text of a scenario to its steps, with everything that is wrong on the way.

mod address;
mod answer;
mod executor;
mod expect;
mod parse;
mod reader;
mod refer;
mod ships;
mod step;
mod subscription;

pub use parse::parse;
pub(crate) use refer::check_references;
