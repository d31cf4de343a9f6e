//! Texts as people write them, and what they are told.

mod files;
mod meaning;
