//! One rule per function: a file in, the offending lines with advice out.

mod comments;
mod hashing;
mod machine;
mod markdown;
mod names;
mod size;
mod sleeping;
mod table;
mod texts;
mod words;

pub(crate) use table::RULES;
