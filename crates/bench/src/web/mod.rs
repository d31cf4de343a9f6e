//! The web side of benchmarks: servers in processes of their own, and a client that costs little.

mod connection;
mod listen;
mod process;
mod request;

pub(crate) use connection::Connection;
pub(crate) use listen::listen;
pub(crate) use process::{Memory, Served, processor_time};
pub(crate) use request::{Request, Target};
