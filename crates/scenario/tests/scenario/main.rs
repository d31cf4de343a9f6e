//! Scenarios with their transcripts, and what is said about wrong ones.

mod stories;
mod wrong;
