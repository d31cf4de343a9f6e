use std::num::NonZeroUsize;

use anyhow::Result;
use clap::Args;
use seaway_client::{Paging, whole};

use crate::connection::{ProjectArgs, ServerArgs};
use crate::out::Out;
use crate::print::{OutputArgs, list, one_line, word};

/// Lists what was sent to a webhook, and how that went
#[derive(Debug, Args)]
pub(crate) struct DeliveriesArgs {
    /// The webhook
    #[arg(value_name = "NAME")]
    name: String,

    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value = "50")]
    limit: NonZeroUsize,

    #[command(flatten)]
    project: ProjectArgs,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

pub(super) async fn run(args: DeliveriesArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let project = server.project(args.project.project.as_ref()).await?;
    let read = async |paging: Paging| server.client.deliveries(&project, &args.name, &paging).await;
    let found = whole(args.limit.get(), read).await?;
    list(out, args.to.output, &found.items, |out, deliveries| {
        if deliveries.is_empty() {
            return out.aside(format_args!("nothing was sent to {} yet", args.name));
        }
        let rows = deliveries.iter().map(|it| {
            [
                it.at.clone(),
                it.record.to_string(),
                it.event.clone(),
                it.attempt.to_string(),
                word(it.state),
                format!("{} ms", it.milliseconds),
                one_line(&it.detail),
            ]
        });
        out.table(["AT", "RECORD", "EVENT", "ATTEMPT", "STATE", "TOOK", "DETAIL"], rows)
    })
}
