use std::process::ExitCode;

use clap::Parser;

use super::{hunt, many, one};

/// Runs simulated worlds and checks every promise after every step
#[derive(Debug, Parser)]
#[command(name = "seaway-sim")]
pub(crate) struct Args {
    /// How many worlds to run
    #[arg(long, default_value_t = 500)]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    start: u64,
    /// Runs the world of this seed only
    #[arg(long, conflicts_with_all = ["planted", "planted_recorded"])]
    seed: Option<u64>,
    /// With `--seed`: prints what happens in the world
    #[arg(long, requires = "seed")]
    transcript: bool,
    /// With `--seed`: plants this bug
    #[arg(long, requires = "seed")]
    bug: Option<String>,
    /// Hunts every planted bug through fresh seeds
    #[arg(long)]
    planted: bool,
    /// Replays the recorded seed of every planted bug
    #[arg(long)]
    planted_recorded: bool,
}

impl Args {
    pub(crate) fn run(&self) -> ExitCode {
        let passed = if let Some(seed) = self.seed {
            one::run(seed, self.bug.as_deref(), self.transcript)
        } else if self.planted {
            hunt::fresh(self.start)
        } else if self.planted_recorded {
            hunt::again()
        } else {
            many::run(self.start, self.seeds)
        };
        if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
