mod merge;
mod payload;

pub use merge::merge;
pub(crate) use payload::{Flow, MAX_PAYLOAD, Scope, object, text_at};
