//! What a server costs that decides nothing: it takes the same requests over the same HTTP stack,
//! parses the same bytes, and writes the same rows with the same hash through the same store, but
//! has no kernel. Its tasks come out of a queue in memory.

mod answers;
mod ledger;
mod pattern;
mod request;
mod routes;
mod sheet;
mod start;

pub(crate) use start::skeleton;
