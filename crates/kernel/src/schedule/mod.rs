mod alarm;
mod emit;
mod fire;
mod judge;
mod keys;
mod subscribed;
mod tick;

pub(crate) use emit::{Draft, Pen};
pub(crate) use judge::{Judgement, is_work};
pub(crate) use keys::Need;
