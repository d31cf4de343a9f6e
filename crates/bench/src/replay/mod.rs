//! How long a start takes when the log is short and when it is long.

mod cases;
mod lanes;

pub(crate) use cases::run;
