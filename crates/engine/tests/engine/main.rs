//! The engine as its users see it: the state machine by itself, and driven by tokio on SQLite.

mod disk;
mod driver;
mod faults;
mod harbor;
mod loading;
mod requests;
mod streams;
mod writer;
