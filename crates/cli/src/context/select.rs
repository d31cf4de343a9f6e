use anyhow::Result;
use clap::Args;

use crate::connection::{Config, ConfigFile};
use crate::failure::WrongUsage;
use crate::out::Out;

/// Makes a context the one that counts where none is named
#[derive(Debug, Args)]
pub(crate) struct UseArgs {
    /// The context
    #[arg(value_name = "NAME")]
    name: String,
}

pub(super) fn run(file: &ConfigFile, args: &UseArgs, out: &mut Out) -> Result<()> {
    let mut config = file.read()?;
    known(&config, &args.name)?;
    config.current = Some(args.name.clone());
    file.write(&config)?;
    let url = &config.contexts[&args.name].url;
    out.line(format_args!("{} is the current context: {url}", args.name))
}

/// Refuses a context that is not there.
pub(super) fn known(config: &Config, name: &str) -> Result<()> {
    if config.contexts.contains_key(name) {
        return Ok(());
    }
    let known: Vec<&str> = config.contexts.keys().map(String::as_str).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(WrongUsage(format!("there is no context {name:?}; there is {known}")).into())
}
