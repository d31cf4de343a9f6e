//! One deployment over 1 to 1,000,000 members, five steps each.

mod cases;
mod kernel;
mod reference;

pub(crate) use cases::{answer, run};
