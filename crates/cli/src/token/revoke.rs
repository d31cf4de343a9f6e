use anyhow::Result;
use clap::Args;

use crate::connection::ServerArgs;
use crate::out::Out;

/// Makes a token worthless at once
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The token, by its id in the list
    #[arg(value_name = "ID")]
    id: String,

    #[command(flatten)]
    server: ServerArgs,
}

pub(super) async fn run(args: RevokeArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    server.client.revoke_token(&args.id).await?;
    out.line(format_args!("{} is revoked", args.id))
}
