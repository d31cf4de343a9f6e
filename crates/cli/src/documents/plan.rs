use anyhow::Result;
use clap::Args;

use crate::connection::{ProjectArgs, ServerArgs};
use crate::documents::sources::SourceArgs;
use crate::documents::{changes, owner};
use crate::failure::Found;
use crate::out::Out;
use crate::print::{OutputArgs, value};

/// Says what an apply would change, and what that means for everything under way
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    sources: SourceArgs,

    #[command(flatten)]
    project: ProjectArgs,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway plan -f shipyard.yaml
  seaway plan -f project.yaml -f webhooks/ -o json

Exit codes: 0 when nothing would change, 3 when something would, and those of `seaway --help`.";

pub(crate) async fn run(args: PlanArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    // The exit code says something, also to those who do not read on.
    out.go_on_unread();
    let apply = args.sources.read()?;
    let server = args.server.server(outer)?;
    let project = owner::find(&server, args.project.project.as_ref(), &apply).await?;
    let planned = server.client.plan(&project, &apply).await?;
    value(out, args.to.output, &planned, |out, planned| {
        changes::show(planned, out)?;
        match changes::any(planned) {
            true => out.line(format_args!("{} was not changed; this is a plan", planned.project)),
            false => out.line(format_args!("{} would stay as it is", planned.project)),
        }
    })?;
    if changes::any(&planned) { Err(Found::Changes.into()) } else { Ok(()) }
}
