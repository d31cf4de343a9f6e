use clap::{Parser, Subcommand};

use crate::demo::DemoArgs;
use crate::log::LogArgs;
use crate::shipyard::{LintArgs, MigrateArgs, SimulateArgs};

/// Delivers revisions of services through stages, and proves it from an append-only log
#[derive(Debug, Parser)]
#[command(name = "seaway", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Lint(LintArgs),
    Log(LogArgs),
    Migrate(MigrateArgs),
    Simulate(SimulateArgs),
}

const EXAMPLES: &str = "\
Examples:
  seaway demo                                  deliver a few example revisions, and clean up
  seaway demo --keep ./demo                    the same, and keep the data directory
  seaway lint shipyard.yaml                    check a pipeline document
  seaway simulate -f shipyard.yaml story.yaml  play it, with a script of who answers what
  seaway log list --data ./demo --limit 20     the first records of its log
  seaway log as-of --data ./demo               what is at every stage
  seaway log verify --data ./demo              prove that no record was changed

Exit codes: 0 ok, 1 failed, 2 wrong usage.";
