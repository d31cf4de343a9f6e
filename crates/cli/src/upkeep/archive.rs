use anyhow::Result;
use clap::Args;
use seaway_api::Archived;
use seaway_model::Name;

use crate::connection::ServerArgs;
use crate::failure::WrongUsage;
use crate::log::project_name;
use crate::moment::Moment;
use crate::out::Out;
use crate::print::{OutputArgs, value};

/// Moves old records of ended deployments to a file that can be verified
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ArchiveArgs {
    /// The project; may be left out where there is only one, or the context names it
    #[arg(value_parser = project_name)]
    project: Option<Name>,

    /// Only what is older than this time, such as 2026-03-01T12:00:00Z
    #[arg(long, value_name = "TIME")]
    before: Moment,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway archive shop --before 2026-01-01T00:00:00Z

The file is written on the server, in its data directory; `seaway log verify --archive FILE` checks
it, wherever it is. What is under way is never archived.";

pub(crate) async fn run(args: ArchiveArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let Some(before) = args.before.query() else {
        let advice = "name a time that has passed, such as 2026-01-01T00:00:00Z";
        return Err(WrongUsage(advice.to_owned()).into());
    };
    let server = args.server.server(outer)?;
    let project = server.project(args.project.as_ref()).await?;
    let archived = server.client.archive(&project, &before).await?;
    value(out, args.to.output, &archived, |out, it| {
        let Archived { file, records, last, hash } = it;
        out.line(format_args!("{records} records of {project} are in {file}"))?;
        out.line(format_args!("the log goes on after record {last} with hash {hash}"))
    })
}
