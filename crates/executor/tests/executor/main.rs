//! Commands as real processes, and a worker against a server on a real socket.

mod commands;
mod definitions;
mod ending;
mod harbor;
mod protocol;
mod stage;
