//! YAML as a tree that knows where each part of it was written.

mod builder;
mod node;
mod read;
mod scalar;

pub use node::{Entry, Key, Node, NotJson, Value};
pub use read::{Subject, read, read_all};
pub use scalar::{Notation, Resolved, Scalar};
