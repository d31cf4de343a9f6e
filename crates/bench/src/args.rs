use clap::{Parser, ValueEnum};

use crate::part::Part;

#[derive(Debug, Parser)]
#[command(name = "seaway-bench", about = "Measures Seaway")]
pub(crate) struct Args {
    /// Run this one only
    pub(crate) bench: Option<Bench>,
    /// Print one JSON object per figure instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Short runs and no large cases: to see that it works, not how fast it is
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run only this case of `serve`, such as `concurrency=100`
    #[arg(long)]
    pub(crate) case: Option<String>,
    /// Run one case of `plan` in this process, so that its memory is its own
    #[arg(long, hide = true)]
    pub(crate) members: Option<usize>,
    /// Play a part of `serve` or `ingest` in this process
    #[arg(long, hide = true)]
    pub(crate) part: Option<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bench {
    /// Steps per second and memory of the kernel, by the number of members
    Plan,
    /// Commands through the engine, against plain inserts of the same rows
    Append,
    /// How long a start takes, with and without a checkpoint
    Replay,
    /// How fast permits are handed on, by the number of those who wait
    Permits,
    /// What an event costs, by the length of the pipeline and what is in flight
    Sequences,
    /// Whether appends notice that a checkpoint is written
    Checkpoint,
    /// Sequences through the server over HTTP, against a server that decides nothing
    Serve,
    /// Events into the server, against one that only keeps their bytes
    Ingest,
}

impl Args {
    pub(crate) fn benches(&self) -> Vec<Bench> {
        self.bench.map_or_else(|| Bench::value_variants().to_vec(), |bench| vec![bench])
    }
}

impl Bench {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Append => "append",
            Self::Replay => "replay",
            Self::Permits => "permits",
            Self::Sequences => "sequences",
            Self::Checkpoint => "checkpoint",
            Self::Serve => "serve",
            Self::Ingest => "ingest",
        }
    }
}
