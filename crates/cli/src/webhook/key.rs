use anyhow::Result;
use clap::Args;

use crate::connection::{ProjectArgs, ServerArgs};
use crate::out::Out;
use crate::print::{OutputArgs, value};

/// Makes a new key that messages to a webhook are signed with, and prints it this once
#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    /// The webhook
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    project: ProjectArgs,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

pub(super) async fn run(args: KeyArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let project = server.project(args.project.project.as_ref()).await?;
    let made = server.client.new_webhook_key(&project, &args.name).await?;
    value(out, args.to.output, &made, |out, made| {
        out.line(&made.key)?;
        out.aside("this is the only time that the key is told; an earlier one is worthless now")
    })
}
