use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::print::{OutputArgs, value};
use crate::resource::args::ScopeArgs;

/// Prints a file as it was kept
#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The name under which it is kept
    #[arg(value_name = "PATH")]
    path: String,

    /// Takes that of a wider level where there is none, as a task would
    #[arg(long)]
    lookup: bool,

    #[command(flatten)]
    scope: ScopeArgs,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

pub(super) async fn run(args: GetArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let project = server.project(args.scope.project.project.as_ref()).await?;
    let scope = args.scope.scope();
    let found = match args.lookup {
        true => server.client.look_up_resource(&project, &scope, &args.path).await?,
        false => server.client.resource(&project, &scope, &args.path).await?,
    };
    value(out, args.to.output, &found, |out, it| {
        let content = STANDARD.decode(&it.content).context("the server sent no base64")?;
        out.bytes(&content)
    })
}
