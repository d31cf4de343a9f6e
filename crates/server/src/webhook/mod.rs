//! Messages to those who asked for them, signed so that they can tell who sent them.

mod beginning;
mod deliver;
mod document;
mod follower;
mod key;
mod message;
mod pattern;
mod retry;
mod sign;

pub(crate) use document::WebhookDocument;
pub(crate) use follower::follow;
pub(crate) use key::new_signing_key;
pub(crate) use retry::retry_after;
pub(crate) use sign::key_text;
