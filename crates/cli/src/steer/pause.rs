use anyhow::Result;
use clap::Args;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::steer::ship::ShipArgs;

/// Holds the next tasks of a deployment; what is being done is finished
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    ship: ShipArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway pause 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11

`seaway resume` lets it go on.";

pub(crate) async fn run(args: PauseArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let ship = args.ship.find(outer).await?;
    let written = ship.client.pause(&ship.project, ship.id).await?;
    args.ship.say(&written, "is paused", out)
}
