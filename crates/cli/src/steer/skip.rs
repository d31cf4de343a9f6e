use anyhow::Result;
use clap::Args;
use seaway_api::Skip;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::steer::ship::ShipArgs;

/// Counts a task as done that waits or failed; the log keeps who said so, and why
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SkipArgs {
    #[command(flatten)]
    ship: ShipArgs,

    /// Why it may be skipped
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// Which task, such as beta/delivery#1/test, where several wait or failed
    #[arg(long, value_name = "PATH")]
    target: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  seaway skip 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11 --reason 'tested by hand'
  seaway skip 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11 --target beta/delivery#1/test --reason flaky";

pub(crate) async fn run(args: SkipArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let ship = args.ship.find(outer).await?;
    let skip = Skip { reason: args.reason.clone(), target: ship.target(args.target.as_ref()) };
    let written = ship.client.skip(&ship.project, ship.id, &skip).await?;
    args.ship.say(&written, "goes on without it", out)
}
