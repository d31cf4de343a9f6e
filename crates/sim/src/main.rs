//! The simulator's command: many worlds, one world, or a hunt for planted bugs.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    seaway_sim::quiet();
    cli::Args::parse().run()
}
