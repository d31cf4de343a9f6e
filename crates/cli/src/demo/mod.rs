//! A small example project, delivered by a server and a worker in this process.

mod berth;
mod example;
mod harbor;
mod narrator;
mod run;
mod scenario;

pub(crate) use run::{DemoArgs, run};
