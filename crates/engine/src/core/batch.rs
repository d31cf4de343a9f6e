use seaway_kernel::{Effect, Kernel, Record, Reply};
use seaway_model::{Digest, Epoch, Name, Seq};
use seaway_wire::{Append, DeploymentStart, KeptAnswer, Row, SpanEdit, StoredTarget};

use super::{Output, RequestError, Ticket};

/// What is told once an append is durable.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) head: Seq,
    pub(super) replies: Vec<(Ticket, Result<Reply, RequestError>)>,
    pub(super) effects: Vec<Effect>,
    /// Deployments whose records may be read once the ones before them are durable.
    pub(super) loads: Vec<Output>,
    /// What requests with a key are told when they come again.
    pub(super) answers: Vec<KeptAnswer>,
}

impl Batch {
    pub(super) fn tell(self, out: &mut Vec<Output>) {
        let reply = |(ticket, result)| Output::Reply { ticket, result };
        out.extend(self.replies.into_iter().map(reply));
        out.extend(self.effects.into_iter().map(Output::Effect));
        out.extend(self.loads);
    }
}

/// Turns the kernel's records into what the store writes.
#[derive(Debug)]
pub(super) struct Sealer {
    pub(super) project: Name,
    pub(super) epoch: Epoch,
    /// Hash of the last row.
    pub(super) hash: Digest,
    /// How many targets the store has, or is being given.
    pub(super) targets: usize,
}

impl Sealer {
    /// Chains the records to the log. Must run before the kernel's sweep, because the spans of a
    /// deployment that has just ended still need its service.
    pub(super) fn seal(&mut self, kernel: &Kernel, records: &[Record]) -> Append {
        let table = kernel.targets();
        let mut rows = Vec::with_capacity(records.len());
        let mut spans = Vec::new();
        for record in records {
            let row = Row::seal(record, &table.path(record.target), self.hash);
            self.hash = row.hash;
            rows.push(row);
            if let Some(deployment) = record.deployment {
                let service = kernel
                    .service(deployment)
                    .expect("a deployment stays in memory until the sweep after its batch");
                spans.extend(SpanEdit::of(record, table, service));
            }
        }
        let stored = |def: seaway_model::TargetDef| {
            let path = table.path(def.id).to_string().into_boxed_str();
            StoredTarget { def, path }
        };
        let targets = table.defined_from(self.targets).map(stored).collect();
        self.targets = table.len();
        Append {
            project: self.project.clone(),
            epoch: self.epoch,
            rows,
            targets,
            spans,
            starts: records.iter().filter_map(DeploymentStart::of).collect(),
            answers: Vec::new(),
        }
    }
}
