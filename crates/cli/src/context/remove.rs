use anyhow::Result;
use clap::Args;

use crate::connection::ConfigFile;
use crate::context::select::known;
use crate::out::Out;

/// Forgets a context
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The context
    #[arg(value_name = "NAME")]
    name: String,
}

pub(super) fn run(file: &ConfigFile, args: &RemoveArgs, out: &mut Out) -> Result<()> {
    let mut config = file.read()?;
    known(&config, &args.name)?;
    config.contexts.remove(&args.name);
    config.current = config.current.filter(|current| *current != args.name);
    file.write(&config)?;
    out.line(format_args!("{} is removed", args.name))
}
