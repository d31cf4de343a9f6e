use anyhow::Result;
use clap::Args;
use seaway_client::{Paging, whole};

use crate::connection::{ProjectArgs, ServerArgs};
use crate::out::Out;
use crate::print::{OutputArgs, list};

/// More webhooks than this are not listed.
const MOST: usize = 10_000;

/// Lists the webhooks of a project, and how far each has come
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    project: ProjectArgs,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

pub(super) async fn run(args: ListArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let project = server.project(args.project.project.as_ref()).await?;
    let read = async |paging: Paging| server.client.webhooks(&project, &paging).await;
    let found = whole(MOST, read).await?;
    list(out, args.to.output, &found.items, |out, webhooks| {
        if webhooks.is_empty() {
            return out.aside(format_args!("{project} has no webhooks"));
        }
        let rows = webhooks.iter().map(|it| {
            [it.name.clone(), it.url.clone(), it.events.join(", "), it.position.to_string()]
        });
        out.table(["NAME", "URL", "EVENTS", "UP TO RECORD"], rows)
    })
}
