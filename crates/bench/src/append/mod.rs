//! Commands through the engine, beside plain inserts of the very rows that they led to.

mod baseline;
mod caller;
mod cases;
mod place;
mod round;
mod written;

pub(crate) use cases::run;
