//! Who is told about what happens, and whether that worked.

mod args;
mod deliveries;
mod key;
mod list;

pub(crate) use args::{WebhookArgs, run};
