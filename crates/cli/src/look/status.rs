use anyhow::Result;
use clap::Args;
use seaway_api::Status;
use seaway_client::{Client, Paging};
use seaway_model::Name;

use crate::connection::ServerArgs;
use crate::failure::WrongUsage;
use crate::log::project_name;
use crate::look::{board, watch};
use crate::moment::Moment;
use crate::out::Out;
use crate::print::{OutputArgs, value};

/// Services that are asked for at a time, and at most.
const PAGE: usize = 500;
const MOST_PAGES: usize = 100;

/// Shows what is where: services by stages
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatusArgs {
    /// The project; may be left out where there is only one, or the context names it
    #[arg(value_parser = project_name)]
    project: Option<Name>,

    /// As it was at a time such as 2026-03-01T12:00:00Z, or at a position of the log such as 123
    #[arg(long, value_name = "TIME")]
    as_of: Option<Moment>,

    /// Shows it again whenever something changes
    #[arg(long, conflicts_with = "as_of")]
    watch: bool,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway status
  seaway status shop --watch
  seaway status shop --as-of 2026-03-01T12:00:00Z
  seaway status shop -o json

A cell says which version is there, what is on its way through (> 1.3), and what failed there since
(! 1.2).";

pub(crate) async fn run(args: StatusArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let to = args.to.output;
    if args.watch && !to.is_for_people() {
        let advice = "--watch is for people; machines read `seaway log PROJECT -f -o json`";
        return Err(WrongUsage(advice.to_owned()).into());
    }
    let server = args.server.server(outer)?;
    let project = server.project(args.project.as_ref()).await?;
    if args.watch {
        return watch::run(&server.client, &project, to, out).await;
    }
    let as_of = args.as_of.and_then(Moment::query);
    let status = read(&server.client, &project, as_of.as_deref()).await?;
    value(out, to, &status, |out, status| board::show(status, to, out))
}

/// All of it, as of one position of the log.
pub(crate) async fn read(client: &Client, project: &str, as_of: Option<&str>) -> Result<Status> {
    let paging = Paging { cursor: None, limit: Some(PAGE) };
    let mut status = client.status(project, as_of, &paging).await?;
    // The pages that follow belong to the first one.
    let at = status.at.to_string();
    for _ in 1..MOST_PAGES {
        let Some(cursor) = status.next.take() else { break };
        let paging = Paging { cursor: Some(cursor), limit: Some(PAGE) };
        let more = client.status(project, Some(&at), &paging).await?;
        status.rows.extend(more.rows);
        status.next = more.next;
    }
    Ok(status)
}
