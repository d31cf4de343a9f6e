//! YAML as a tree that knows where each part of it was written.

mod builder;
mod node;
mod read;
mod scalar;

pub(crate) use node::{Entry, Key, Node, Value};
pub(crate) use read::read;
