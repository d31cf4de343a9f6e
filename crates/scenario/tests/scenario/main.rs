//! Scenarios with their transcripts, and what is said about wrong ones.

mod docs;
mod keptn;
mod stories;
mod torn;
mod wrong;
