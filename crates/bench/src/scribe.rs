use std::path::Path;

use anyhow::{Result, ensure};
use seaway_kernel::{Actor, Command, Kernel, Pace, Record};
use seaway_model::{Digest, Name, Seq, Span, Timestamp};
use seaway_store::{Store, sqlite};
use seaway_wire::{Row, StoredTarget};

use crate::composer::Composer;

/// Records of one transaction.
const BATCH: usize = 20_000;

/// Writes a long log quickly: the kernel and the tables, without engine and acknowledgements.
#[derive(Debug)]
pub(crate) struct Scribe {
    kernel: Kernel,
    raw: sqlite::Raw,
    composer: Composer,
    by: Actor,
    hash: Digest,
    targets: usize,
    now: Timestamp,
    records: Vec<Record>,
}

impl Scribe {
    /// Begins the log of a new project in a new data directory.
    pub(crate) async fn open(dir: &Path, project: &Name) -> Result<Self> {
        let store = Store::sqlite(dir)?;
        store.create_project(project).await?;
        let epoch = store.acquire(project, "bench").await?;
        ensure!(epoch == Composer::EPOCH, "the project is not new");
        drop(store);
        Ok(Self {
            kernel: Kernel::new(project),
            raw: sqlite::Raw::open(&dir.join("seaway.db"))?,
            composer: Composer::new(project),
            by: Actor::named("bench"),
            hash: Digest::GENESIS,
            targets: 1,
            now: Timestamp(1_700_000_000_000_000),
            records: Vec::new(),
        })
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub(crate) fn head(&self) -> Seq {
        self.kernel.head()
    }

    /// Carries a command out and everything that follows from it; `see` is shown every record.
    pub(crate) fn write(&mut self, command: &Command, mut see: impl FnMut(&Record)) -> Result<()> {
        self.now = self.now + Span::from_millis(1);
        let mut seen = self.records.len();
        self.kernel.decide(command, self.now, &self.by, &mut self.records)?;
        loop {
            let pace = self.kernel.tick(self.now, BATCH, &mut self.records);
            self.records[seen..].iter().for_each(&mut see);
            if self.records.len() >= BATCH {
                self.flush()?;
            }
            seen = self.records.len();
            if pace == Pace::Idle {
                return Ok(());
            }
        }
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.records.is_empty() {
            return Ok(());
        }
        let table = self.kernel.targets();
        let mut rows = Vec::with_capacity(self.records.len());
        for record in &self.records {
            let row = Row::seal(record, &table.path(record.target), self.hash);
            self.hash = row.hash;
            rows.push(row);
        }
        let stored = |def: seaway_model::TargetDef| {
            let path = table.path(def.id).to_string().into_boxed_str();
            StoredTarget { def, path }
        };
        let targets = table.defined_from(self.targets).map(stored).collect();
        self.targets = table.len();
        let append = self.composer.compose(table, &self.records, rows, targets);
        self.raw.append_all(&[append])?;
        self.kernel.sweep();
        self.records.clear();
        Ok(())
    }
}
