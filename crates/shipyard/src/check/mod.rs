//! From a tree of any shape to a pipeline, with everything that is wrong on the way.

mod batch;
mod checker;
mod document;
mod duration;
mod event;
mod fields;
mod header;
mod index;
mod last;
mod loops;
mod name;
mod selector;
mod sequence;
mod stage;
mod task;
mod trigger;

pub use checker::{Checker, joined, one_of, shown};
pub use document::check;
pub use fields::{Fields, Shape};
pub(crate) use header::{Format, format, has_new_form, new_form};
pub use name::Given;
pub(crate) use stage::evaluation;
