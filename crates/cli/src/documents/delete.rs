use anyhow::Result;
use clap::Args;

use crate::connection::{ProjectArgs, ServerArgs};
use crate::documents::{changes, document_kind};
use crate::out::Out;
use crate::print::{OutputArgs, value};

/// Deletes a document of a project; the log keeps what it was
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DeleteArgs {
    /// What it is, such as webhook or TaskDefinition
    #[arg(value_name = "KIND")]
    kind: String,

    /// Its name
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    project: ProjectArgs,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway delete webhook chat
  seaway delete TaskDefinition load-test --project shop";

pub(crate) async fn run(args: DeleteArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let project = server.project(args.project.project.as_ref()).await?;
    let kind = document_kind(&args.kind);
    let applied = server.client.delete_document(&project, &kind, &args.name).await?;
    value(out, args.to.output, &applied, |out, applied| changes::show(applied, out))
}
