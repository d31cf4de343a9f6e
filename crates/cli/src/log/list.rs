use std::num::NonZeroUsize;

use anyhow::Result;
use clap::Args;
use seaway_model::{DeploymentId, Fact, Kind, Name, Revision, Seq, UnknownWord};
use seaway_store::{Filter, Listed, Order, Store};
use seaway_wire::ShownRecord;
use serde::Serialize;

use crate::connection::ServerArgs;
use crate::failure::WrongUsage;
use crate::log::args::project_name;
use crate::log::entry::{Entry, table};
use crate::moment::{self, Moment};
use crate::out::Out;
use crate::place;
use crate::print::{self, Format, deployment_id};

/// Records that are read at a time.
const PAGE: usize = 1_000;

/// Records that are listed where nothing else is said.
pub(super) const LIMIT: usize = 100;

/// Lists records, oldest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The project; may be left out where there is only one
    #[arg(value_parser = project_name)]
    pub(super) project: Option<Name>,

    /// Only records of this deployment
    #[arg(long, value_name = "UUID", value_parser = deployment_id)]
    pub(super) deployment: Option<uuid::Uuid>,

    /// Only records of this target and what lies below it, such as shop/beta
    #[arg(long, value_name = "PREFIX")]
    pub(super) target: Option<String>,

    /// Only records of this kind, such as task-done, or task-failed for those that failed
    #[arg(long, value_parser = shown_kind)]
    pub(super) kind: Option<ShownKind>,

    /// Only records of this fact, such as failed
    #[arg(long)]
    pub(super) fact: Option<Fact>,

    /// Only records of this revision
    #[arg(long, value_name = "NUMBER")]
    pub(super) revision: Option<u64>,

    /// Only records of deployments of this service
    #[arg(long, value_parser = project_name)]
    pub(super) service: Option<Name>,

    /// Only records from here on: a time or a position
    #[arg(long, value_name = "MOMENT")]
    pub(super) since: Option<Moment>,

    /// Only records up to here, included: a time or a position
    #[arg(long, value_name = "MOMENT")]
    pub(super) until: Option<Moment>,

    /// How many records [default: 100, or 10 before those that are followed]
    #[arg(long, value_name = "NUMBER")]
    pub(super) limit: Option<NonZeroUsize>,

    /// The newest records first
    #[arg(long)]
    pub(super) newest_first: bool,

    /// Goes on where another page ended
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl ListArgs {
    /// Whether anything at all was asked for.
    pub(super) fn says_something(&self) -> bool {
        let texts = [&self.target, &self.after].into_iter().any(Option::is_some);
        let names = [&self.project, &self.service].into_iter().any(Option::is_some);
        let moments = [self.since, self.until].iter().any(Option::is_some);
        let words = self.kind.is_some() || self.fact.is_some() || self.revision.is_some();
        let others = self.deployment.is_some() || self.limit.is_some() || self.newest_first;
        texts || names || moments || words || others
    }

    /// What is asked for as a kind may be a kind together with a fact.
    pub(super) fn kind_and_fact(&self) -> (Option<Kind>, Option<Fact>) {
        let kind = self.kind.map(|shown| shown.kind);
        (kind, self.fact.or(self.kind.and_then(|shown| shown.fact)))
    }

    fn cursor(&self) -> Result<Option<Seq>> {
        let Some(text) = &self.after else { return Ok(None) };
        match text.parse() {
            Ok(seq) => Ok(Some(Seq(seq))),
            Err(_) => {
                let advice = format!("--after {text:?} is no position; take it from another page");
                Err(WrongUsage(advice).into())
            }
        }
    }

    async fn filter(&self, store: &Store, project: &Name) -> Result<Filter> {
        let since = match self.since {
            Some(moment) => Some(moment.first(store, project).await?),
            None => None,
        };
        let until = match self.until {
            Some(moment) => moment.last(store, project).await?,
            None => None,
        };
        let (kind, fact) = self.kind_and_fact();
        Ok(Filter {
            deployment: self.deployment.map(DeploymentId),
            under: self.target.as_deref().map(|path| below(project.as_str(), path).into()),
            kind,
            fact,
            revision: self.revision.map(Revision),
            service: self.service.clone(),
            since,
            until,
        })
    }
}

/// A kind as the table shows it: a failure has a name of its own there.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownKind {
    kind: Kind,
    pub(super) fact: Option<Fact>,
}

fn shown_kind(text: &str) -> Result<ShownKind, UnknownWord> {
    let fails = |kind: &Kind| kind.as_str() != text && kind.shown(Fact::Failed) == text;
    match Kind::ALL.iter().copied().find(fails) {
        Some(kind) => Ok(ShownKind { kind, fact: Some(Fact::Failed) }),
        None => Ok(ShownKind { kind: text.parse()?, fact: None }),
    }
}

/// A path may be given without the project that it begins with.
pub(super) fn below(project: &str, path: &str) -> String {
    let path = path.trim_end_matches('/');
    match path.split('/').next() {
        Some(first) if first == project => path.to_owned(),
        _ => format!("{project}/{path}"),
    }
}

pub(crate) async fn run(store: &Store, args: ListArgs, to: Format, out: &mut Out) -> Result<()> {
    let project = place::project(store, args.project.as_ref()).await?;
    let filter = args.filter(store, &project).await?;
    let order = if args.newest_first { Order::NewestFirst } else { Order::OldestFirst };
    let mut cursor = args.cursor()?;
    let mut left = args.limit.map_or(LIMIT, NonZeroUsize::get);
    let mut listed = Vec::new();
    // A page looks at a bounded part of the log, and may be empty although more follows.
    loop {
        let page = store.list(&project, &filter, order, cursor, left.min(PAGE)).await?;
        left -= page.items.len();
        cursor = page.next;
        match to {
            Format::Json | Format::Yaml => {
                page.items.iter().try_for_each(|item| one(out, to, &shown(item)))?;
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
    if let Some(cursor) = cursor {
        out.aside(format_args!("more records follow; go on with --after {cursor}"))?;
    }
    Ok(())
}

fn shown(item: &Listed) -> ShownRecord<'_> {
    ShownRecord::new(&item.row, &item.path, moment::show(item.row.at))
}

/// Prints one record of many for machines.
pub(super) fn one(out: &mut Out, to: Format, record: &impl Serialize) -> Result<()> {
    print::list(out, to, &[record], |_, _| Ok(()))
}
