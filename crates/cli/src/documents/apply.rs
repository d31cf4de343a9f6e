use anyhow::Result;
use clap::Args;

use crate::connection::{ProjectArgs, ServerArgs};
use crate::documents::sources::SourceArgs;
use crate::documents::{changes, owner};
use crate::out::Out;
use crate::print::{OutputArgs, value};

/// Applies documents to a project: all of them, or none
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ApplyArgs {
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
  seaway apply -f shipyard.yaml
  seaway apply -f project.yaml -f webhooks/
  seaway apply -f shipyard.yaml --project shop
  render-documents | seaway apply -f -

A project that does not exist is made. The project is that of the Project document, or of --project,
or of the context; a Shipyard alone goes to the project with its name.
`seaway plan` says beforehand what an apply would do.";

pub(crate) async fn run(args: ApplyArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let apply = args.sources.read()?;
    let server = args.server.server(outer)?;
    let project = owner::find(&server, args.project.project.as_ref(), &apply).await?;
    let applied = server.client.apply(&project, &apply).await?;
    value(out, args.to.output, &applied, |out, applied| {
        changes::show(applied, out)?;
        match applied.at {
            Some(at) => out.line(format_args!("applied to {} with record {at}", applied.project)),
            None => out.line(format_args!("{} is as it was", applied.project)),
        }
    })
}
