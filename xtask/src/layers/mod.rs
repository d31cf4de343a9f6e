//! Which crate may depend on which, read from the manifests.

mod check;
mod table;

pub(crate) use check::{run, violations};
