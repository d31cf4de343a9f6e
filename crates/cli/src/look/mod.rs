//! What is where, and why it is not further.

mod board;
mod status;
mod watch;
mod why;

pub(crate) use board::show as show_board;
pub(crate) use status::{StatusArgs, read as read_status, run as status};
pub(crate) use why::{WhyArgs, read as read_why, run as why, show as show_why};
