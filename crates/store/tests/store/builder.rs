use seaway_kernel::{Actor, Detail, Record};
use seaway_model::{
    Attempt, DeploymentId, Digest, Epoch, Fact, Kind, Name, Revision, Seq, TargetId, TargetTable,
    Timestamp,
};
use seaway_wire::{Append, DeploymentStart, Row, SpanEdit, StoredTarget};
use uuid::Uuid;

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// A deployment of the tests: its id follows from its revision.
#[derive(Clone, Debug)]
pub(crate) struct Deployed {
    pub(crate) id: DeploymentId,
    pub(crate) revision: Revision,
    pub(crate) service: Name,
}

pub(crate) fn deployed(revision: u64, service: &str) -> Deployed {
    let id = DeploymentId(Uuid::from_u128(0xdeb1_0000 + u128::from(revision)));
    Deployed { id, revision: Revision(revision), service: name(service) }
}

/// Writes a log by hand: each call adds a record, and `take` makes an append of what there is.
#[derive(Clone, Debug)]
pub(crate) struct Builder {
    pub(crate) project: Name,
    pub(crate) epoch: Epoch,
    pub(crate) table: TargetTable,
    pub(crate) seq: Seq,
    pub(crate) hash: Digest,
    stored: usize,
    pending: Option<Append>,
}

impl Builder {
    pub(crate) fn new(project: &str, epoch: Epoch) -> Self {
        Self {
            project: name(project),
            epoch,
            table: TargetTable::new(project),
            seq: Seq(0),
            hash: Digest::GENESIS,
            stored: 1,
            pending: None,
        }
    }

    pub(crate) fn target(&mut self, path: &str) -> TargetId {
        let mut id = TargetTable::ROOT;
        for part in path.split('/').skip(1) {
            let part = self.table.intern_part(part);
            id = self.table.intern(id, part, self.seq.next());
        }
        id
    }

    /// Ten seconds pass between records, so that a time names one.
    pub(crate) fn time(seq: Seq) -> Timestamp {
        Timestamp(1_700_000_000_000_000 + seq.0 as i64 * 10_000_000)
    }

    pub(crate) fn record(&mut self, deployed: &Deployed, path: &str, kind: Kind, fact: Fact) {
        let n = self.seq.0 as u32;
        self.record_n(deployed, path, kind, fact, n);
    }

    pub(crate) fn record_n(&mut self, by: &Deployed, path: &str, kind: Kind, fact: Fact, n: u32) {
        let target = self.target(path);
        let seq = self.seq.next();
        let deploys = || Detail::Deploys {
            service: by.service.clone(),
            version: format!("1.{}", by.revision).into(),
        };
        let record = Record {
            seq,
            at: Self::time(seq),
            deployment: Some(by.id),
            target,
            revision: Some(by.revision),
            kind,
            fact,
            attempt: Attempt(1),
            n,
            outcome: None,
            detail: (kind == Kind::PipelineStarted).then(|| Box::new(deploys())),
            cause: (seq.0 > 1).then(|| Seq(seq.0 - 1)),
            by: Actor::Seaway,
        };
        self.push(&record, &by.service);
    }

    /// A record about the project itself, without a deployment.
    pub(crate) fn alone(&mut self, n: u32) {
        let seq = self.seq.next();
        let record = Record {
            seq,
            at: Self::time(seq),
            deployment: None,
            target: TargetTable::ROOT,
            revision: None,
            kind: Kind::Structure,
            fact: Fact::StructureChanged,
            attempt: Attempt(1),
            n,
            outcome: None,
            detail: Some(Box::new(Detail::Answer("größer \"quoted\"".into()))),
            cause: None,
            by: Actor::named("ann"),
        };
        self.push(&record, &name("none"));
    }

    fn push(&mut self, record: &Record, service: &Name) {
        let row = Row::seal(record, &self.table.path(record.target), self.hash);
        (self.seq, self.hash) = (row.seq, row.hash);
        let append = self.pending.get_or_insert_with(|| Append {
            project: self.project.clone(),
            epoch: self.epoch,
            rows: Vec::new(),
            targets: Vec::new(),
            spans: Vec::new(),
            starts: Vec::new(),
            answers: Vec::new(),
        });
        append.rows.push(row);
        append.spans.extend(SpanEdit::of(record, &self.table, service));
        append.starts.extend(DeploymentStart::of(record));
    }

    pub(crate) fn take(&mut self) -> Append {
        let mut append = self.pending.take().expect("a record was added");
        let stored = |def: seaway_model::TargetDef| {
            let path = self.table.path(def.id).to_string().into();
            StoredTarget { def, path }
        };
        append.targets = self.table.defined_from(self.stored).map(stored).collect();
        self.stored = self.table.len();
        append
    }

    /// For a writer that found out that another one has stored them.
    pub(crate) fn forget_new_targets(&mut self) {
        self.stored = self.table.len();
    }

    /// An append of `count` records of one step.
    pub(crate) fn some(&mut self, deployed: &Deployed, count: usize) -> Append {
        for _ in 0..count {
            self.record(deployed, "shop/beta/delivery#1/test", Kind::TaskDone, Fact::Changed);
        }
        self.take()
    }
}
