mod apply;
mod clock;
mod course;
mod locate;
mod offer;
mod order;
mod recall;
mod release;
mod retry;
mod revive;
mod step;
mod structure;
mod trigger;

pub use apply::IllegalRecord;
pub(crate) use locate::{Location, name_outside, name_spot};
pub(crate) use offer::{APPROVAL, BY_PERSON, GRACE};
pub(crate) use step::ending;
pub(crate) use trigger::received;
