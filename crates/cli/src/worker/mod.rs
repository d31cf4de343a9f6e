//! `seaway worker`: carries out tasks as commands.

mod args;
mod logging;
mod run;

pub(crate) use args::WorkerArgs;
pub(crate) use run::run;
