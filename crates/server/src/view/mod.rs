//! What handlers show: pure functions over rows and over the state of a project.

pub(crate) mod deployment;
pub(crate) mod documents;
pub(crate) mod executor;
#[cfg(test)]
pub(crate) mod listed;
pub(crate) mod path;
pub(crate) mod project;
pub(crate) mod record;
pub(crate) mod resources;
pub(crate) mod status;
pub(crate) mod steps;
pub(crate) mod token;
pub(crate) mod webhook;
pub(crate) mod why;
