//! The engine's decisions: batching, acknowledging after durable, loading, ownership and time.
//!
//! Nothing here waits, reads a clock or touches a store. A driver owns one [`Writer`] per project
//! and does what it asks for:
//!
//! 1. Take ownership in the store, read where the log ends, and feed a [`Loader`], then its
//!    [`Replay`], until [`Replay::need`] is [`Need::Nothing`]; [`Replay::finish`] is the `Writer`.
//! 2. [`Writer::offer`] what callers ask for, and call [`Writer::poll_append`] until it is `None`,
//!    handing each append to the store in that order.
//! 3. [`Writer::committed`] for each append that became durable, in order; then 2 again.
//! 4. [`Writer::failed`] for one that did not, which consumes the writer; then 1 again.
//! 5. At [`Writer::next_wakeup`] without any other reason, 2 again.
//!
//! Every verb appends what must be told to someone to `out`, in the order in which it must be told.

mod batch;
mod clock;
mod envelope;
mod load;
mod registrations;
mod replay;
mod request;
mod revival;
mod serving;
mod takers;
mod writer;

pub use clock::EngineClock;
pub use load::{CheckpointRejected, Loader};
pub(crate) use registrations::reply;
pub use replay::{LoadError, Need, Replay};
pub use request::{
    AppendFailure, Ask, Limits, Obstacle, Output, Overloaded, Request, RequestError, Seen, Ticket,
};
pub use writer::Writer;
