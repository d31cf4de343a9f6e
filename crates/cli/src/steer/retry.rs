use anyhow::Result;
use clap::Args;
use seaway_api::Retry;

use crate::connection::ServerArgs;
use crate::deliver::DataArgs;
use crate::out::Out;
use crate::steer::ship::ShipArgs;

/// Tries a failed task again, with the same data or with other
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    ship: ShipArgs,

    /// Which task, such as beta/delivery#1/test, where several failed
    #[arg(long, value_name = "PATH")]
    target: Option<String>,

    #[command(flatten)]
    data: DataArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway retry 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11
  seaway retry 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11 --target beta/delivery#1/test
  seaway retry 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11 --data test.users=5

What is given with --data is laid over the data that the task had, and both are in the log.";

pub(crate) async fn run(args: RetryArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let data = args.data.read()?;
    let ship = args.ship.find(outer).await?;
    let retry = Retry { target: ship.target(args.target.as_ref()), data };
    let written = ship.client.retry(&ship.project, ship.id, &retry).await?;
    args.ship.say(&written, "is tried again", out)
}
