use std::num::NonZeroUsize;

use anyhow::Result;
use seaway_client::{Client, Paging, RecordFilter, RecordOrder};

use crate::connection::ServerArgs;
use crate::log::entry::{Entry, table};
use crate::log::list::{LIMIT, ListArgs, below, one};
use crate::moment::Moment;
use crate::out::Out;
use crate::print::Format;

/// Records that are asked for at a time.
const PAGE: usize = 500;

/// Lists records through the server.
pub(super) async fn run(
    args: &ListArgs,
    outer: &ServerArgs,
    to: Format,
    out: &mut Out,
) -> Result<()> {
    let server = args.server.server(outer)?;
    let project = server.project(args.project.as_ref()).await?;
    let filter = filter(args, &server.client, &project).await?;
    let mut cursor = args.after.clone();
    let mut left = args.limit.map_or(LIMIT, NonZeroUsize::get);
    let mut listed = Vec::new();
    // A page looks at a bounded part of the log, and may be empty although more follows.
    loop {
        let paging = Paging { cursor, limit: Some(left.min(PAGE)) };
        let page = server.client.records(&project, &filter, &paging).await?;
        left = left.saturating_sub(page.items.len());
        cursor = page.next;
        match to {
            Format::Json | Format::Yaml => {
                page.items.iter().try_for_each(|item| one(out, to, item))?;
            }
            Format::Table | Format::Wide => listed.extend(page.items),
        }
        if left == 0 || cursor.is_none() {
            break;
        }
    }
    match to {
        Format::Json | Format::Yaml => {}
        _ if listed.is_empty() => out.aside("no record matches")?,
        Format::Table | Format::Wide => table(listed.iter().map(Entry::from), to, out)?,
    }
    out.flush()?;
    match cursor {
        Some(next) => out.aside(format_args!("more records follow; go on with --after {next}")),
        None => Ok(()),
    }
}

/// The same question in the words of the server.
pub(super) async fn filter(
    args: &ListArgs,
    client: &Client,
    project: &str,
) -> Result<RecordFilter> {
    let since = match args.since {
        Some(Moment::Now) => Some((client.project(project).await?.head + 1).to_string()),
        Some(moment) => moment.query(),
        None => None,
    };
    let (kind, fact) = args.kind_and_fact();
    Ok(RecordFilter {
        deployment: args.deployment,
        under: args.target.as_deref().map(|path| below(project, path)),
        kind: kind.map(|kind| kind.to_string()),
        fact: fact.map(|fact| fact.to_string()),
        revision: args.revision,
        service: args.service.as_ref().map(ToString::to_string),
        since,
        until: args.until.and_then(Moment::query),
        order: match args.newest_first {
            true => RecordOrder::NewestFirst,
            false => RecordOrder::OldestFirst,
        },
    })
}
