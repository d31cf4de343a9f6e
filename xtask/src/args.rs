use clap::{Parser, Subcommand};

use crate::test::Part;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Tests, checks, benchmarks and setup of the workspace")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) task: Task,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Install what the tests need and run everything; the last line counts the results
    Test {
        /// Run this part only; may be given several times
        #[arg(long, value_enum, value_name = "PART")]
        only: Vec<Part>,
    },
    /// Check the house style of every file that is not ignored
    Tidy,
    /// Check which crate depends on which, and what pure crates depend on
    Layers,
    /// Run the simulator, for example with `--seeds 500` or `--seed 7`
    #[command(after_help = "`cargo xtask sim -- --help` lists the simulator's own options.")]
    Sim {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run one benchmark, or all of them
    Bench {
        /// plan, append, replay, permits, sequences, checkpoint, serve or ingest
        name: Option<String>,
        /// Only this case of `serve`, such as `concurrency=100`
        #[arg(long)]
        case: Option<String>,
        /// Print the results for machines
        #[arg(long)]
        json: bool,
    },
    /// Install what the tests need, and nothing else
    Setup,
}
