//! The house style, as far as a machine can check it.

mod check;
mod exceptions;
mod lexer;
mod rules;
mod source;
mod tree;

pub(crate) use check::{run, violations};
