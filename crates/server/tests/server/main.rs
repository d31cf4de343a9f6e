//! The server from outside: a real one, on a socket of its own, with a real store.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod crew;
mod deployments;
mod documents;
mod events;
mod harbor;
mod overload;
mod projects;
mod receiver;
mod records;
mod resources;
mod status;
mod steer;
mod stream;
mod telemetry;
mod tokens;
mod traces;
mod upkeep;
mod webhooks;
mod why;
