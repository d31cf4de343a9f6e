use anyhow::Result;
use clap::Args;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::steer::ship::ShipArgs;

/// Lets a deployment go on that was paused
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    ship: ShipArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway resume 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11

`seaway why` says whether it is paused, and by whom.";

pub(crate) async fn run(args: ResumeArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let ship = args.ship.find(outer).await?;
    let written = ship.client.resume(&ship.project, ship.id).await?;
    args.ship.say(&written, "goes on", out)
}
