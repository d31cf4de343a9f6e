mod apply;
mod course;
mod locate;
mod order;
mod release;
mod retry;
mod revive;
mod step;
mod structure;

pub use apply::IllegalRecord;
pub(crate) use locate::{Location, name_outside, name_spot};
pub(crate) use step::ending;
