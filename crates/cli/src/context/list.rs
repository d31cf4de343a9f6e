use anyhow::Result;
use clap::Args;
use serde_json::json;

use crate::connection::{ConfigFile, Context, ContextToken};
use crate::out::Out;
use crate::print::{OutputArgs, list, maybe};

/// Lists the contexts; the current one has a star
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    to: OutputArgs,
}

pub(super) fn run(file: &ConfigFile, args: &ListArgs, out: &mut Out) -> Result<()> {
    let config = file.read()?;
    let is_current = |name: &str| config.current.as_deref() == Some(name);
    if config.contexts.is_empty() && args.to.output.is_for_people() {
        let path = file.path().display();
        return out
            .aside(format_args!("no contexts in {path}; make one with `seaway context set`"));
    }
    // A token stays where it is, whoever looks at the screen.
    let contexts: Vec<_> = config
        .contexts
        .iter()
        .map(|(name, Context { url, project, .. })| {
            json!({ "name": name, "current": is_current(name), "url": url, "project": project })
        })
        .collect();
    list(out, args.to.output, &contexts, |out, _| {
        let rows = config.contexts.iter().map(|(name, context)| {
            let star = if is_current(name) { "*" } else { "" };
            let token = match &context.token {
                Some(ContextToken::Here(_)) => "in the configuration".to_owned(),
                Some(ContextToken::File(file)) => file.display().to_string(),
                None => "-".to_owned(),
            };
            let project = maybe(context.project.as_ref());
            [star.to_owned(), name.clone(), context.url.clone(), project, token]
        });
        out.table(["", "NAME", "URL", "PROJECT", "TOKEN"], rows)
    })
}
