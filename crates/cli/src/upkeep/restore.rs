use std::env;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use seaway_store::Store;

use crate::out::Out;
use crate::place::DEFAULT_DATA;

/// Makes a data directory out of a backup, after checking it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RestoreArgs {
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The data directory to make, new or empty [env: SEAWAY_DATA] [default: ./seaway-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  seaway restore seaway-20260301-120000.db --data ./restored
  seaway serve --data ./restored

What lies beside the store is not in a backup: copy admin.token and vault.key from the old
directory.";

pub(crate) async fn run(args: RestoreArgs, out: &mut Out) -> Result<()> {
    let set = || env::var_os("SEAWAY_DATA").filter(|it| !it.is_empty()).map(PathBuf::from);
    let dir = args.data.or_else(set).unwrap_or_else(|| DEFAULT_DATA.into());
    Store::restore(&args.file, &dir).await?;
    let shown = dir.display();
    out.line(format_args!("{} is restored to {shown}", args.file.display()))?;
    out.line(format_args!("start a server on it with `seaway serve --data {shown}`"))
}
