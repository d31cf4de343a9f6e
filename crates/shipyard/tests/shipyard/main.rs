//! Texts as people write them, and what they are told.

mod docs;
mod files;
mod fuzz;
mod limits;
mod meaning;
mod migration;
mod schema;
