//! How documents are read, for others that people write beside a shipyard: a tree that knows where
//! everything stands, and a checker that collects what is wrong with it.

pub use crate::check::check as shipyard;
pub use crate::check::{Checker, Fields, Given, Shape, joined, one_of, shown};
pub use crate::near::nearest;
pub use crate::report::{Draft, Place, Report};
pub use crate::yaml::{
    Entry, Key, Node, NotJson, Notation, Resolved, Scalar, Subject, Value, read, read_all,
};
