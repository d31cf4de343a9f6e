//! The HTTP interface, its guards, and what runs beside it.
//!
//! Handlers translate: a request becomes a command or a question, and what comes back becomes an
//! answer. What may happen is decided by the kernel, who may ask by `auth`.

mod app;
mod auth;
mod bodies;
mod change;
mod clock;
mod description;
mod documents;
mod extract;
mod follow;
mod forgetting;
mod gate;
mod handout;
mod history;
mod intake;
mod listen;
mod metrics;
mod moment;
mod otlp;
mod paging;
mod paths;
mod plan_view;
mod problem;
mod query;
mod refusal;
mod repeated;
mod replica;
mod request;
mod routes;
mod server;
mod settings;
mod table;
mod trace;
mod view;
#[cfg(test)]
mod walk;
mod webhook;

pub use auth::AdminTokenError;
pub use listen::ListenError;
pub use otlp::{Otlp, OtlpError};
pub use problem::Failure;
pub use seaway_outbound::{Destination, Policy};
pub use server::{ServeError, Server};
pub use settings::{Settings, Shared, Tls};
