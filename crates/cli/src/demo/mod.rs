//! A small example project that is delivered in this process, with the embedded store.

mod berth;
mod example;
mod executors;
mod narrator;
mod run;
mod scenario;
mod signals;
mod why;

pub(crate) use run::{DemoArgs, run};
