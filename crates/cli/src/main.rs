//! The `seaway` command: arguments to settings to one command.

mod args;
mod connection;
mod context;
mod deliver;
mod demo;
mod dispatch;
mod documents;
mod failure;
mod get;
mod log;
mod look;
mod moment;
mod out;
mod place;
mod print;
mod resource;
mod serve;
mod shipyard;
mod signals;
mod steer;
mod token;
mod upkeep;
mod webhook;
mod worker;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Args;
use crate::out::Out;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let mut out = Out::stdout();
    let done = dispatch::run(args, &mut out).await;
    // What went wrong is said after what was printed, also where both go to the same place.
    let flushed = out.flush();
    match done.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
