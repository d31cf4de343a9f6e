//! The stored form of records: what it looks like, and that damage is noticed.

mod fuzz;
mod golden;
mod spans;
