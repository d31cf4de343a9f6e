use seaway_kernel::Record;
use seaway_model::{Digest, Epoch, Seq, Timestamp};
use seaway_wire::{Append, DeploymentStart, Row, SpanEdit};
use tokio::sync::oneshot;

use super::pattern::{Pattern, Use, fill};
use super::request::Offer;
use crate::identity::name;
use crate::serve::work::PROJECT;

/// An append that is being written, and what is told when it is durable.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) append: Append,
    pub(super) told: Told,
    at: Timestamp,
}

#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) events: Vec<(oneshot::Sender<Seq>, Seq)>,
    pub(super) claims: Vec<(oneshot::Sender<Vec<Offer>>, Vec<Offer>)>,
}

/// The last record of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) seq: Seq,
    pub(super) hash: Digest,
}

impl Sheet {
    pub(super) fn new(epoch: Epoch, at: Timestamp) -> Self {
        let append = Append {
            project: name(PROJECT),
            epoch,
            rows: Vec::new(),
            targets: Vec::new(),
            spans: Vec::new(),
            starts: Vec::new(),
            answers: Vec::new(),
        };
        Self { append, told: Told::default(), at }
    }

    /// Writes what a part of the pattern says about a deployment behind the end of the log.
    pub(super) fn put(
        &mut self,
        pattern: &Pattern,
        part: fn(&Pattern, usize) -> &[Record],
        (task, given): (usize, Use<'_>),
        end: &mut End,
    ) {
        let table = pattern.targets();
        for record in part(pattern, task) {
            end.seq = end.seq.next();
            let record = fill(record, given, end.seq, self.at);
            let row = Row::seal(&record, &table.path(record.target), end.hash);
            end.hash = row.hash;
            self.append.rows.push(row);
            self.append.spans.extend(SpanEdit::of(&record, table, given.service));
            self.append.starts.extend(DeploymentStart::of(&record));
        }
    }
}
