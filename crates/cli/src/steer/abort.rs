use anyhow::Result;
use clap::Args;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::steer::ship::ShipArgs;

/// Ends a deployment; its executors are told, and nothing that would follow is triggered
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AbortArgs {
    #[command(flatten)]
    ship: ShipArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway abort 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11

There is no way back; deliver the version again with `seaway trigger`.";

pub(crate) async fn run(args: AbortArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let ship = args.ship.find(outer).await?;
    let written = ship.client.abort(&ship.project, ship.id).await?;
    args.ship.say(&written, "is aborted", out)
}
