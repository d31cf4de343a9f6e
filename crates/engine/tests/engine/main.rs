//! The engine as its users see it: the state machine by itself, and driven by tokio on SQLite.

mod disk;
mod driver;
mod faults;
mod full;
mod harbor;
mod loading;
mod postgres;
mod requests;
mod rivals;
mod streams;
mod triggers;
mod writer;
