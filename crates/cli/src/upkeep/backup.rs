use anyhow::Result;
use clap::Args;
use serde_json::Value;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::print::{OutputArgs, now, value};

/// Copies the whole store to a file on the server, while it goes on
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackupArgs {
    /// The name of the file; otherwise one with the time
    #[arg(value_name = "FILE")]
    file: Option<String>,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway backup
  seaway backup before-upgrade.db
  seaway restore ./seaway-data/backups/before-upgrade.db --data ./restored

The file is in the directory backups of the server's data directory. A store in PostgreSQL is backed
up with its own tools.";

pub(crate) async fn run(args: BackupArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let file = args.file.unwrap_or_else(|| now().strftime("seaway-%Y%m%d-%H%M%S.db").to_string());
    let made = server.client.backup(&file).await?;
    value(out, args.to.output, &made, |out, made| {
        let place = made.get("file").and_then(Value::as_str).unwrap_or(&file);
        out.line(format_args!("the store is copied to {place}"))
    })
}
