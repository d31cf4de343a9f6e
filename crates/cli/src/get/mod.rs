//! Looking at what there is: projects, documents, deployments, executors.

mod args;
mod deployments;
mod documents;
mod executors;
mod projects;
mod what;

pub(crate) use args::{GetArgs, run};
