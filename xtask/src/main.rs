//! Everything that is done to the workspace rather than by it: tests, checks, benchmarks, setup.

mod args;
mod layers;
mod postgres;
mod python;
mod shell;
mod test;
mod tidy;
mod tools;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::args::{Args, Task};
use crate::shell::Shell;

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<ExitCode> {
    let shell = Shell::new()?;
    match args.task {
        Task::Test { only } => test::run(&shell, &only),
        Task::Tidy => tidy::run(&shell),
        Task::Layers => layers::run(&shell),
        Task::Sim { args } => tools::sim(&shell, &args),
        Task::Bench { name, case, json } => {
            tools::bench(&shell, (name.as_deref(), case.as_deref()), json)
        }
        Task::Setup => tools::setup(&shell),
    }
}
