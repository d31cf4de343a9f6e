//! A client of the HTTP interface.
//!
//! A [`Client`] has one method for each route. Writes carry an `Idempotency-Key` of their own, so
//! that a call which the server was too busy for is made again without a second effect.

mod answer;
mod call;
mod client;
mod deployments;
mod documents;
mod error;
mod executors;
mod options;
mod paging;
mod path;
mod projects;
mod records;
mod reply;
mod retry;
mod sse;
mod stream;
mod tokens;
mod upkeep;
mod webhooks;

pub use answer::Answer;
pub use client::Client;
pub use deployments::DeploymentFilter;
pub use documents::ResourceScope;
pub use error::ClientError;
pub use options::Options;
pub use paging::{Paging, Whole, whole};
pub use records::{RecordFilter, RecordOrder};
pub use stream::RecordStream;
