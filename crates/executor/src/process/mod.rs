//! Processes on this machine: whose they are, and how to end all of them.
//!
//! A command may leave processes behind that have left its group and its session. This process is
//! their *subreaper*, so that each of them becomes its child instead of getting lost, and can be
//! found, ended and waited for.

mod belonging;
mod census;
mod ending;
mod family;
mod reaper;

pub(crate) use ending::end;
pub(crate) use family::Family;
