//! What a worker can do: task definitions, from YAML to a command that is ready to be filled in.

mod check;
mod choose;
mod command;
mod env;
mod loading;
mod model;
mod sizes;
mod subscription;
mod template;

pub use loading::{Definitions, LoadError, Unreadable};
pub use model::{Definition, Program};
pub use template::{Fill, Template};
