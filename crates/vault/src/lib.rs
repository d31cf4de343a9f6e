//! Secrets at rest: sealed with a key that is not in the database.
//!
//! A [`Vault`] turns a [`Secret`] into bytes that may be stored anywhere, and back. What was sealed
//! for one context cannot be opened in another one, so that nobody who can write to the database
//! can move a secret to where it does harm.

mod error;
mod key;
mod key_file;
mod secret;
mod vault;

pub use error::{KeyError, TextError, VaultError};
pub use key::{Key, KeyId};
pub use secret::Secret;
pub use vault::Vault;
