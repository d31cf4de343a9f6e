//! The engine as its users see it: the state machine by itself, and driven by tokio on SQLite.

mod disk;
mod driver;
mod faults;
mod full;
mod harbor;
mod keys;
mod loading;
mod postgres;
mod quay;
mod requests;
mod rivals;
mod streams;
mod takers;
mod triggers;
mod visitors;
mod writer;
