use anyhow::Result;
use seaway_api::Record;
use seaway_model::{Fact, Kind};
use seaway_store::Listed;

use crate::log::note;
use crate::moment;
use crate::out::Out;
use crate::print::{Format, maybe, one_line};

/// A record as people see it, wherever it was read.
#[derive(Debug)]
pub(super) struct Entry {
    seq: String,
    at: String,
    deployment: String,
    revision: String,
    target: String,
    kind: String,
    fact: String,
    attempt: String,
    n: String,
    outcome: String,
    cause: String,
    by: String,
    hash: String,
    note: String,
}

impl From<&Listed> for Entry {
    fn from(Listed { row, path }: &Listed) -> Self {
        Self {
            seq: row.seq.to_string(),
            at: moment::show(row.at),
            deployment: maybe(row.deployment),
            revision: maybe(row.revision),
            target: path.to_string(),
            kind: row.kind.shown(row.fact),
            fact: row.fact.to_string(),
            attempt: row.attempt.to_string(),
            n: row.n.to_string(),
            outcome: maybe(row.outcome),
            cause: maybe(row.cause),
            by: row.by.to_string(),
            hash: row.hash.to_string(),
            note: note::of(row),
        }
    }
}

impl From<&Record> for Entry {
    fn from(record: &Record) -> Self {
        // A newer server may know words that this program does not.
        let kind = match (record.kind.parse::<Kind>(), record.fact.parse::<Fact>()) {
            (Ok(kind), Ok(fact)) => kind.shown(fact),
            _ => one_line(&record.kind),
        };
        Self {
            seq: record.seq.to_string(),
            at: one_line(&record.at),
            deployment: maybe(record.deployment),
            revision: maybe(record.revision),
            target: one_line(&record.target),
            kind,
            fact: one_line(&record.fact),
            attempt: record.attempt.to_string(),
            n: record.n.to_string(),
            outcome: maybe(record.outcome.as_ref()),
            cause: maybe(record.cause),
            by: one_line(&record.by),
            hash: one_line(&record.hash),
            note: note::of_data(record.data.as_ref()),
        }
    }
}

impl Entry {
    fn short(self) -> [String; 8] {
        let Self { seq, at, revision, target, kind, fact, by, note, .. } = self;
        [seq, at, revision, target, kind, fact, by, note]
    }

    fn long(self) -> [String; 14] {
        let Self { seq, at, deployment, revision, target, kind, fact, .. } = self;
        let Self { attempt, n, outcome, cause, by, hash, note, .. } = self;
        [
            seq, at, deployment, revision, target, kind, fact, attempt, n, outcome, cause, by,
            hash, note,
        ]
    }

    /// One line of a list that has no end, whose columns are as wide as they usually are.
    pub(super) fn line(self) -> String {
        let [seq, at, revision, target, kind, fact, by, note] = self.short();
        let text = format!(
            "{seq:<6}  {at:<27}  {revision:<4}  {target:<36}  {kind:<18}  {fact:<10}  {by:<10}  \
             {note}"
        );
        text.trim_end().to_owned()
    }
}

/// Shows records as a table.
pub(super) fn table(
    entries: impl IntoIterator<Item = Entry>,
    to: Format,
    out: &mut Out,
) -> Result<()> {
    let entries = entries.into_iter();
    if to == Format::Wide {
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
        return out.table(header, entries.map(Entry::long));
    }
    let header = ["SEQ", "AT", "REVISION", "TARGET", "KIND", "FACT", "BY", "NOTE"];
    out.table(header, entries.map(Entry::short))
}
