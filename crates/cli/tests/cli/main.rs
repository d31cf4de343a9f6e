//! The real binary, on data directories that the real engine has written.

mod demo;
mod errors;
mod harbor;
mod list;
mod program;
mod questions;
mod shipyard;
mod simulate;
mod verify;
