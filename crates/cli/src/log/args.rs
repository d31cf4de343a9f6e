use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use seaway_model::Name;

use crate::log::{as_of, list, stats, verify};
use crate::out::Out;
use crate::place::PlaceArgs;

/// Looks at the log of a project; a process that is using the data directory goes on
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// How to print: table, wide, or json, which is stable
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        default_value = "table",
        hide_possible_values = true
    )]
    output: Format,

    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    List(list::ListArgs),
    Verify(verify::VerifyArgs),
    Stats(stats::StatsArgs),
    AsOf(as_of::AsOfArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Wide,
    Json,
}

const EXAMPLES: &str = "\
Examples:
  seaway log list --kind task-done --fact failed --newest-first
  seaway log list shop --target shop/beta --since 2026-03-01T12:00:00Z -o json
  seaway log as-of 2026-03-01T12:00:00Z shop --service cart
  seaway log verify shop --database-url postgres://seaway@db/seaway

PROJECT may be left out where there is only one.";

pub(crate) fn project_name(text: &str) -> Result<Name, seaway_model::NameError> {
    Name::new(text)
}

pub(crate) async fn run(args: LogArgs, out: &mut Out) -> Result<()> {
    let store = args.place.open().await?;
    match args.question {
        Question::List(question) => list::run(&store, question, args.output, out).await,
        Question::Verify(question) => verify::run(&store, question, args.output, out).await,
        Question::Stats(question) => stats::run(&store, question, args.output, out).await,
        Question::AsOf(question) => as_of::run(&store, question, args.output, out).await,
    }
}
