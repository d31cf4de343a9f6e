use std::path::{self, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use seaway_client::{Client, Options};
use seaway_model::Name;

use crate::connection::{ConfigFile, Context, ContextToken, Secret};
use crate::failure::WrongUsage;
use crate::log::project_name;
use crate::out::Out;

/// Makes a context, or changes what is named of one
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The context
    #[arg(value_name = "NAME")]
    name: String,

    /// Where the server is; needed for a new context
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// The token, kept in the configuration, which only you can read
    #[arg(long, value_name = "TOKEN", conflicts_with = "token_file")]
    token: Option<Secret>,

    /// A file that holds the token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The project that is meant where none is named
    #[arg(long, value_name = "NAME", value_parser = project_name)]
    project: Option<Name>,
}

pub(super) fn run(file: &ConfigFile, args: &SetArgs, out: &mut Out) -> Result<()> {
    let mut config = file.read()?;
    let before = config.contexts.remove(&args.name);
    let Some(url) = args.url.clone().or(before.as_ref().map(|it| it.url.clone())) else {
        let advice = format!("{} is a new context; say where its server is with --url", args.name);
        return Err(WrongUsage(advice).into());
    };
    Client::new(&url, None, Options::default())?;
    let (old_token, old_project) = before.map_or((None, None), |it| (it.token, it.project));
    let token = match (&args.token, &args.token_file) {
        (Some(token), _) => Some(ContextToken::Here(token.clone())),
        // Commands are called from anywhere.
        (None, Some(file)) => Some(ContextToken::File(
            path::absolute(file).with_context(|| format!("{} is no path", file.display()))?,
        )),
        (None, None) => old_token,
    };
    let project = args.project.as_ref().map(ToString::to_string).or(old_project);
    config.contexts.insert(args.name.clone(), Context { url, token, project });
    let first = config.current.is_none();
    if first {
        config.current = Some(args.name.clone());
    }
    file.write(&config)?;
    let current = if first { ", and is the current context" } else { "" };
    out.line(format_args!("{} is kept in {}{current}", args.name, file.path().display()))
}
