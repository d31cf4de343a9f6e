use anyhow::Result;
use clap::{Args, Subcommand};

use crate::connection::ConfigFile;
use crate::context::{list, remove, select, set};
use crate::out::Out;

/// Keeps the servers that you work with, each under a name
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct ContextArgs {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    List(list::ListArgs),
    Use(select::UseArgs),
    Set(set::SetArgs),
    Rm(remove::RemoveArgs),
}

const EXAMPLES: &str = "\
Examples:
  seaway context set prod --url https://seaway.example --token-file ~/.seaway-prod --project shop
  seaway context use prod
  seaway context list
  seaway status --context prod

The file is $SEAWAY_CONFIG, or seaway/config.yaml in $XDG_CONFIG_HOME or ~/.config.";

pub(crate) fn run(args: &ContextArgs, out: &mut Out) -> Result<()> {
    let file = ConfigFile::needed()?;
    match &args.task {
        Task::List(args) => list::run(&file, args, out),
        Task::Use(args) => select::run(&file, args, out),
        Task::Set(args) => set::run(&file, args, out),
        Task::Rm(args) => remove::run(&file, args, out),
    }
}
