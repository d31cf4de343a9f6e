use anyhow::Result;
use clap::Args;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::print::{OutputArgs, value, word};
use crate::resource::args::ScopeArgs;

/// Removes a file; the log keeps that it was there
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The name under which it is kept
    #[arg(value_name = "PATH")]
    path: String,

    #[command(flatten)]
    scope: ScopeArgs,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

pub(super) async fn run(args: RemoveArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let project = server.project(args.scope.project.project.as_ref()).await?;
    let change = server.client.delete_resource(&project, &args.scope.scope(), &args.path).await?;
    value(out, args.to.output, &change, |out, it| {
        out.line(format_args!("{} is {}", it.name, word(it.change)))
    })
}
