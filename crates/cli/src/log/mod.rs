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
pub(crate) use as_of::show as show_standings;
pub(crate) use note::answer;
pub(crate) use standings::Standings;
