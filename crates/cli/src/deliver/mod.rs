//! Starting a delivery, and following it to its end.

mod blocked;
mod data;
mod follow;
mod progress;
mod sequence;
mod tell;
mod trigger;

pub(crate) use data::DataArgs;
pub(crate) use tell::{Told, tell};
pub(crate) use trigger::{TriggerArgs, run as trigger};
