use anyhow::Result;
use clap::{Args, Subcommand};

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::webhook::{deliveries, key, list};

/// Lists webhooks and what was sent to them, and makes their signing keys
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct WebhookArgs {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    List(list::ListArgs),
    Deliveries(deliveries::DeliveriesArgs),
    Key(key::KeyArgs),
}

const EXAMPLES: &str = "\
Examples:
  seaway webhook list
  seaway webhook deliveries chat --limit 20
  seaway webhook key chat                      a new key; the old one is worthless from then on

A webhook is made and changed with `seaway apply`, and removed with `seaway delete webhook NAME`.";

pub(crate) async fn run(args: WebhookArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    match args.task {
        Task::List(args) => list::run(args, outer, out).await,
        Task::Deliveries(args) => deliveries::run(args, outer, out).await,
        Task::Key(args) => key::run(args, outer, out).await,
    }
}
