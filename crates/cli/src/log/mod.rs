//! Looking at a log, without ever writing to it.

mod args;
mod as_of;
mod list;
mod note;
mod standings;
mod stats;
mod verify;

pub(crate) use args::{LogArgs, run};
pub(crate) use as_of::show as show_standings;
pub(crate) use note::answer;
pub(crate) use standings::Standings;
