use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use anyhow::Result;
use seaway_api::Record;
use seaway_client::{Client, Paging, RecordFilter, RecordOrder};
use uuid::Uuid;

use crate::connection::ServerArgs;
use crate::failure::WrongUsage;
use crate::log::entry::Entry;
use crate::log::list::{ListArgs, one};
use crate::log::remote;
use crate::out::Out;
use crate::print::Format;

/// Records that were there before, for context.
const BEFORE: usize = 10;

/// Deployments whose service is remembered.
const KNOWN: usize = 10_000;

/// Prints the last records, and then all that are written, until somebody ends it.
pub(super) async fn run(
    args: &ListArgs,
    outer: &ServerArgs,
    to: Format,
    out: &mut Out,
) -> Result<()> {
    if args.until.is_some() || args.after.is_some() || args.newest_first {
        let advice = "-f goes on from now; leave --until, --after and --newest-first out";
        return Err(WrongUsage(advice.to_owned()).into());
    }
    let server = args.server.server(outer)?;
    let project = server.project(args.project.as_ref()).await?;
    let head = server.client.project(&project).await?.head;
    let filter = remote::filter(args, &server.client, &project).await?;
    let limit = args.limit.map_or(BEFORE, NonZeroUsize::get);
    for record in last(&server.client, &project, &filter, head, limit).await? {
        show(&record, to, out)?;
    }
    out.flush()?;
    let mut stream = server.client.stream(&project, head);
    let mut wanted =
        Wanted { client: &server.client, project: &project, filter, known: BTreeMap::new() };
    loop {
        let record = stream.next().await?;
        if wanted.takes(&record).await? {
            show(&record, to, out)?;
            out.flush()?;
        }
    }
}

/// The newest records up to a position, oldest first.
async fn last(
    client: &Client,
    project: &str,
    filter: &RecordFilter,
    head: u64,
    limit: usize,
) -> Result<Vec<Record>> {
    let until = Some(head.to_string());
    let filter = RecordFilter { until, order: RecordOrder::NewestFirst, ..filter.clone() };
    let paging = Paging { cursor: None, limit: Some(limit) };
    let mut records = client.records(project, &filter, &paging).await?.items;
    records.reverse();
    Ok(records)
}

fn show(record: &Record, to: Format, out: &mut Out) -> Result<()> {
    match to {
        Format::Json | Format::Yaml => one(out, to, record),
        Format::Table | Format::Wide => out.line(Entry::from(record).line()),
    }
}

/// Tells the records that were asked for from the others, as the server would.
struct Wanted<'a> {
    client: &'a Client,
    project: &'a str,
    filter: RecordFilter,
    /// The services of deployments, which records do not name.
    known: BTreeMap<Uuid, String>,
}

impl Wanted<'_> {
    async fn takes(&mut self, record: &Record) -> Result<bool> {
        if !matches(&self.filter, record) {
            return Ok(false);
        }
        let Some(wanted) = self.filter.service.clone() else { return Ok(true) };
        let Some(id) = record.deployment else { return Ok(false) };
        if let Some(service) = self.known.get(&id) {
            return Ok(*service == wanted);
        }
        let service = self.client.deployment(self.project, id).await?.deployment.service;
        let takes = service == wanted;
        if self.known.len() >= KNOWN {
            self.known.pop_first();
        }
        self.known.insert(id, service);
        Ok(takes)
    }
}

fn matches(filter: &RecordFilter, record: &Record) -> bool {
    let below = |path: &String| {
        let rest = record.target.strip_prefix(path.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    filter.deployment.is_none_or(|id| record.deployment == Some(id))
        && filter.under.as_ref().is_none_or(below)
        && filter.kind.as_ref().is_none_or(|kind| *kind == record.kind)
        && filter.fact.as_ref().is_none_or(|fact| *fact == record.fact)
        && filter.revision.is_none_or(|revision| record.revision == Some(revision))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_followed_is_what_would_be_listed() {
        let record: Record = serde_json::from_value(serde_json::json!({
            "seq": 1, "at": "", "target": "shop/beta/delivery#1/test", "kind": "task-done",
            "fact": "failed", "attempt": 1, "n": 0, "by": "x", "hash": "", "revision": 7
        }))
        .expect("it has the shape of a record");
        let under = |path: &str| RecordFilter { under: Some(path.into()), ..Default::default() };
        assert!(matches(&RecordFilter::default(), &record));
        assert!(matches(&under("shop/beta"), &record));
        assert!(!matches(&under("shop/bet"), &record));
        let revision = |number| RecordFilter { revision: Some(number), ..Default::default() };
        assert!(matches(&revision(7), &record) && !matches(&revision(8), &record));
        let kind = RecordFilter { kind: Some("event".into()), ..Default::default() };
        assert!(!matches(&kind, &record));
        let other = RecordFilter { deployment: Some(Uuid::nil()), ..Default::default() };
        assert!(!matches(&other, &record));
    }
}
