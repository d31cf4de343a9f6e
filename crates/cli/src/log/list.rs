use std::num::NonZeroUsize;

use anyhow::{Context, Result};
use clap::Args;
use seaway_model::{DeploymentId, Fact, Kind, Name, Revision, Seq, UnknownWord};
use seaway_store::{Filter, Listed, Order, Store};
use seaway_wire::ShownRecord;

use crate::log::args::{Format, project_name};
use crate::log::note;
use crate::moment::{self, Moment};
use crate::out::Out;
use crate::place;

/// Records that are read at a time.
const PAGE: usize = 1_000;

/// Lists records, oldest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The project; may be left out where there is only one
    #[arg(value_parser = project_name)]
    project: Option<Name>,

    /// Only records of this deployment
    #[arg(long, value_name = "UUID")]
    deployment: Option<uuid::Uuid>,

    /// Only records of this target and what lies below it, such as shop/beta
    #[arg(long, value_name = "PREFIX")]
    target: Option<String>,

    /// Only records of this kind, such as task-done, or task-failed for those that failed
    #[arg(long, value_parser = shown_kind)]
    kind: Option<ShownKind>,

    /// Only records of this fact, such as failed
    #[arg(long)]
    fact: Option<Fact>,

    /// Only records of this revision
    #[arg(long, value_name = "NUMBER")]
    revision: Option<u64>,

    /// Only records of deployments of this service
    #[arg(long, value_parser = project_name)]
    service: Option<Name>,

    /// Only records from here on: a time or a position
    #[arg(long, value_name = "MOMENT")]
    since: Option<Moment>,

    /// Only records up to here, included: a time or a position
    #[arg(long, value_name = "MOMENT")]
    until: Option<Moment>,

    /// How many records
    #[arg(long, value_name = "NUMBER", default_value = "100")]
    limit: NonZeroUsize,

    /// The newest records first
    #[arg(long)]
    newest_first: bool,

    /// Goes on where another page ended
    #[arg(long, value_name = "CURSOR")]
    after: Option<u64>,
}

impl ListArgs {
    async fn filter(&self, store: &Store, project: &Name) -> Result<Filter> {
        let since = match self.since {
            Some(moment) => Some(moment.first(store, project).await?),
            None => None,
        };
        let until = match self.until {
            Some(moment) => moment.last(store, project).await?,
            None => None,
        };
        Ok(Filter {
            deployment: self.deployment.map(DeploymentId),
            under: self.target.as_deref().map(|path| below(project, path)),
            kind: self.kind.map(|shown| shown.kind),
            fact: self.fact.or(self.kind.and_then(|shown| shown.fact)),
            revision: self.revision.map(Revision),
            service: self.service.clone(),
            since,
            until,
        })
    }
}

/// A kind as the table shows it: a failure has a name of its own there.
#[derive(Clone, Copy, Debug)]
struct ShownKind {
    kind: Kind,
    fact: Option<Fact>,
}

fn shown_kind(text: &str) -> Result<ShownKind, UnknownWord> {
    let fails = |kind: &Kind| kind.as_str() != text && kind.shown(Fact::Failed) == text;
    match Kind::ALL.iter().copied().find(fails) {
        Some(kind) => Ok(ShownKind { kind, fact: Some(Fact::Failed) }),
        None => Ok(ShownKind { kind: text.parse()?, fact: None }),
    }
}

/// A path may be given without the project that it begins with.
fn below(project: &Name, path: &str) -> Box<str> {
    let path = path.trim_end_matches('/');
    match path.split('/').next() {
        Some(first) if first == project.as_str() => path.into(),
        _ => format!("{project}/{path}").into(),
    }
}

pub(crate) async fn run(store: &Store, args: ListArgs, to: Format, out: &mut Out) -> Result<()> {
    let project = place::project(store, args.project.as_ref()).await?;
    let filter = args.filter(store, &project).await?;
    let order = if args.newest_first { Order::NewestFirst } else { Order::OldestFirst };
    let mut cursor = args.after.map(Seq);
    let mut left = args.limit.get();
    let mut listed = Vec::new();
    // A page looks at a bounded part of the log, and may be empty although more follows.
    loop {
        let page = store.list(&project, &filter, order, cursor, left.min(PAGE)).await?;
        left -= page.items.len();
        cursor = page.next;
        match to {
            Format::Json => page.items.iter().try_for_each(|item| out.line(json(item)?))?,
            Format::Table | Format::Wide => listed.extend(page.items),
        }
        if left == 0 || cursor.is_none() {
            break;
        }
    }
    match to {
        Format::Json => {}
        _ if listed.is_empty() => out.aside("no record matches")?,
        Format::Table => table(&listed, out)?,
        Format::Wide => wide(&listed, out)?,
    }
    out.flush()?;
    if let Some(cursor) = cursor {
        out.aside(format_args!("more records follow; go on with --after {cursor}"))?;
    }
    Ok(())
}

fn json(item: &Listed) -> Result<String> {
    let shown = ShownRecord::new(&item.row, &item.path, moment::show(item.row.at));
    serde_json::to_string(&shown).context("a record cannot be written as JSON")
}

fn table(listed: &[Listed], out: &mut Out) -> Result<()> {
    let header = ["SEQ", "AT", "REVISION", "TARGET", "KIND", "FACT", "BY", "NOTE"];
    let rows = listed.iter().map(|Listed { row, path }| {
        [
            row.seq.to_string(),
            moment::show(row.at),
            maybe(row.revision),
            path.to_string(),
            row.kind.shown(row.fact),
            row.fact.to_string(),
            row.by.to_string(),
            note::of(row),
        ]
    });
    out.table(header, rows)
}

fn wide(listed: &[Listed], out: &mut Out) -> Result<()> {
    let header = [
        "SEQ",
        "AT",
        "DEPLOYMENT",
        "REVISION",
        "TARGET",
        "KIND",
        "FACT",
        "ATTEMPT",
        "N",
        "OUTCOME",
        "CAUSE",
        "BY",
        "HASH",
        "NOTE",
    ];
    let rows = listed.iter().map(|Listed { row, path }| {
        [
            row.seq.to_string(),
            moment::show(row.at),
            maybe(row.deployment),
            maybe(row.revision),
            path.to_string(),
            row.kind.shown(row.fact),
            row.fact.to_string(),
            row.attempt.to_string(),
            row.n.to_string(),
            maybe(row.outcome),
            maybe(row.cause),
            row.by.to_string(),
            row.hash.to_string(),
            note::of(row),
        ]
    });
    out.table(header, rows)
}

fn maybe(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}
