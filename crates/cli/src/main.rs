//! The `seaway` command: arguments to settings to one command.

mod args;
mod demo;
mod failure;
mod log;
mod moment;
mod out;
mod place;
mod shipyard;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};
use crate::out::Out;

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let mut out = Out::stdout();
    let done = match args.command {
        Command::Demo(args) => demo::run(args, &mut out).await,
        Command::Lint(args) => shipyard::lint(args, &mut out),
        Command::Log(args) => log::run(args, &mut out).await,
        Command::Migrate(args) => shipyard::migrate(&args, &mut out),
        Command::Simulate(args) => shipyard::simulate(&args, &mut out),
    };
    // What went wrong is said after what was printed, also where both go to the same place.
    let flushed = out.flush();
    match done.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
