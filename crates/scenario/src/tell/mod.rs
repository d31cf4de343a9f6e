//! What happened, in sentences.

mod line;
mod narrate;
mod others;
mod records;
mod transcript;
mod waits;

pub(crate) use line::Story;
pub use line::{Grain, Line, offset};
pub use transcript::Transcript;
