//! Who may do what: tokens with scopes.

mod args;
mod create;
mod list;
mod revoke;

pub(crate) use args::{TokenArgs, run};
