//! `seaway serve`: the control plane.

mod args;
mod beside;
mod logging;
mod run;

pub(crate) use args::ServeArgs;
pub(crate) use run::run;
