use anyhow::Result;
use clap::Args;
use seaway_api::Verdict;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::steer::ship::ShipArgs;

/// Says yes to an approval that a deployment waits for
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    ship: ShipArgs,

    /// Which approval, such as prod/delivery#1/approval, where several wait
    #[arg(long, value_name = "PATH")]
    target: Option<String>,

    /// What to keep in the log about it
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  seaway approve 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11
  seaway approve 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11 --comment 'seen by the team'

`seaway why` lists what waits for approval.";

pub(crate) async fn run(args: ApproveArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let ship = args.ship.find(outer).await?;
    let verdict =
        Verdict { target: ship.target(args.target.as_ref()), comment: args.comment.clone() };
    let written = ship.client.approve(&ship.project, ship.id, &verdict).await?;
    args.ship.say(&written, "is approved", out)
}
