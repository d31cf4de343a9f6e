//! The one way out: HTTP requests to addresses that people named, checked before they connect.
//!
//! Whoever may write a URL into a document could otherwise make the server ask its own network on
//! their behalf. [`Outbound`] reaches public addresses, and beyond those only what an admin allowed
//! in its [`Policy`]. The address that is checked is the one that is connected to: names are looked
//! up once, by the connection itself, and lose the addresses that are denied.

mod address;
mod error;
mod message;
mod outbound;
mod policy;
mod redirect;
mod resolve;
mod tls;

pub use address::{Range, special};
pub use error::{Denied, DestinationError, OutboundError};
pub use message::{Redirects, Request, Response};
pub use outbound::Outbound;
pub use policy::{Destination, Policy};
