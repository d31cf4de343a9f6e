//! The client against a socket that answers as a test has written down.

mod calls;
mod script;
mod streams;
