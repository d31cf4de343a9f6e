//! Looking at a log, without ever writing to it: in its store, or through the server.

mod args;
mod as_of;
mod entry;
mod follow;
mod list;
mod note;
mod remote;
mod standings;
mod stats;
mod verify;

pub(crate) use args::{LogArgs, project_name, run};
