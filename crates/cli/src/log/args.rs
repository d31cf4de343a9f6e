use anyhow::Result;
use clap::{Args, Subcommand};
use seaway_model::Name;

use crate::connection::ServerArgs;
use crate::failure::WrongUsage;
use crate::log::{as_of, follow, list, remote, stats, verify};
use crate::out::Out;
use crate::place::PlaceArgs;
use crate::print::Format;

/// Looks at the log of a project, through the server or in its data directory
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// How to print: table, wide, or json and yaml, which are stable
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

    #[command(flatten)]
    list: list::ListArgs,

    /// Goes on with what is written from now on, through the server, until it is ended
    #[arg(short, long)]
    follow: bool,

    #[command(subcommand)]
    question: Option<Question>,
}

#[derive(Debug, Subcommand)]
enum Question {
    List(list::ListArgs),
    Verify(verify::VerifyArgs),
    Stats(stats::StatsArgs),
    AsOf(as_of::AsOfArgs),
}

const EXAMPLES: &str = "\
Examples:
  seaway log shop --kind task-done --fact failed --newest-first
  seaway log shop -f
  seaway log list --data ./seaway-data --target shop/beta --since 2026-03-01T12:00:00Z -o json
  seaway log as-of 2026-03-01T12:00:00Z shop --service cart
  seaway log verify shop --database-url postgres://seaway@db/seaway

Without a command the server is asked, unless --data or --database-url names a store. The commands
read a store themselves, also while a server is using it, unless --url or --context names a server.
PROJECT may be left out where there is only one.";

pub(crate) fn project_name(text: &str) -> Result<Name, seaway_model::NameError> {
    Name::new(text)
}

pub(crate) async fn run(args: LogArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let LogArgs { place, output, list, follow, question } = args;
    let Some(question) = question else {
        return records(&place, list, follow, outer, output, out).await;
    };
    if follow || list.says_something() {
        let advice = "write the project and the filters behind the command: seaway log list shop";
        return Err(WrongUsage(advice.to_owned()).into());
    }
    match question {
        Question::Verify(verify::VerifyArgs { archive: Some(file), .. }) => {
            verify::run_archive(&file, output, out).await
        }
        Question::List(question) if !place.names_one() && question.server.names_one(outer) => {
            remote::run(&question, outer, output, out).await
        }
        Question::Verify(question) if !place.names_one() && question.server.names_one(outer) => {
            verify::run_remote(&question, outer, output, out).await
        }
        Question::List(question) => list::run(&place.open().await?, question, output, out).await,
        Question::Verify(question) => {
            verify::run(&place.open().await?, question, output, out).await
        }
        Question::Stats(question) => stats::run(&place.open().await?, question, output, out).await,
        Question::AsOf(question) => as_of::run(&place.open().await?, question, output, out).await,
    }
}

/// Without a question, it is about the records themselves.
async fn records(
    place: &PlaceArgs,
    args: list::ListArgs,
    follow: bool,
    outer: &ServerArgs,
    to: Format,
    out: &mut Out,
) -> Result<()> {
    match (place.names_one(), follow) {
        (true, true) => {
            let advice = "-f follows a log through the server; leave --data out";
            Err(WrongUsage(advice.to_owned()).into())
        }
        (true, false) => list::run(&place.open().await?, args, to, out).await,
        (false, true) => follow::run(&args, outer, to, out).await,
        (false, false) => remote::run(&args, outer, to, out).await,
    }
}
