use anyhow::Result;
use clap::{Args, Subcommand};

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::token::{create, list, revoke};

/// Makes, lists and revokes tokens; needs the scope admin
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Create(create::CreateArgs),
    List(list::ListArgs),
    Revoke(revoke::RevokeArgs),
}

const EXAMPLES: &str = "\
Examples:
  seaway token create ci --scope deliver --project shop --expires 90d > ci.token
  seaway token create worker-eu --scope execute
  seaway token list
  seaway token revoke 01a1e6a5-7451-7cc0-8000-3f2a9d1c0b7e

Scopes: read; deliver and execute, which include read; admin, which includes all. The log names a
token by its name as the actor of whatever it did.";

pub(crate) async fn run(args: TokenArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    match args.task {
        Task::Create(args) => create::run(args, outer, out).await,
        Task::List(args) => list::run(args, outer, out).await,
        Task::Revoke(args) => revoke::run(args, outer, out).await,
    }
}
