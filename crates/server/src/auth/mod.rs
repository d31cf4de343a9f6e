//! Who may do what: tokens, scopes, and the one function that decides.

mod admin;
mod caller;
mod guard;
mod scopes;
mod tokens;

pub use admin::AdminTokenError;
pub(crate) use admin::{ensure_admin_token, new_secret};
pub(crate) use caller::Caller;
pub(crate) use guard::{Guard, guard};
pub(crate) use scopes::Scopes;
pub(crate) use tokens::{Tokens, hash};
