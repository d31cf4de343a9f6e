//! The real binary, on data directories that the real engine has written.

mod alone;
mod demo;
mod errors;
mod harbor;
mod help;
mod list;
mod program;
mod questions;
mod shipyard;
mod simulate;
mod verify;
