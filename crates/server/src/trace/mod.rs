//! Traces for OpenTelemetry: one for each deployment, made from the log, so that its times are
//! those of the records.

mod export;
mod fold;
mod follower;
mod journey;
mod span;

pub(crate) use export::Exporter;
pub(crate) use follower::follow;
