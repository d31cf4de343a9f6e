use anyhow::Result;
use seaway_kernel::{Actor, Record};
use seaway_model::{Name, Seq, TargetId, TargetTable};
use seaway_store::Store;
use seaway_wire::{Append, Row, StoredTarget};

use crate::composer::Composer;

/// Rows or targets that are read at a time.
const PAGE: usize = 10_000;

/// What a run has written to one project, in the order in which it was written.
#[derive(Debug)]
pub(super) struct Written {
    project: Name,
    rows: Vec<Row>,
    targets: Vec<StoredTarget>,
}

impl Written {
    pub(super) async fn read(store: &Store, project: &Name) -> Result<Self> {
        let (mut rows, mut targets): (Vec<Row>, Vec<StoredTarget>) = (Vec::new(), Vec::new());
        loop {
            let after = rows.last().map_or(Seq(0), |row| row.seq);
            let page = store.rows(project, after, PAGE).await?;
            if page.is_empty() {
                break;
            }
            rows.extend(page);
        }
        loop {
            let from = targets.last().map_or(TargetId(1), |target| target.def.id.next());
            let page = store.targets(project, from, PAGE).await?;
            if page.is_empty() {
                break;
            }
            targets.extend(page);
        }
        Ok(Self { project: project.clone(), rows, targets })
    }

    /// The same rows again, cut wherever so many commands have left their records.
    fn appends(self, commands: usize) -> Result<Vec<Append>> {
        let mut table = TargetTable::new(self.project.as_str());
        for target in &self.targets {
            table.define(&target.def)?;
        }
        let mut composer = Composer::new(&self.project);
        let mut targets = self.targets.into_iter().peekable();
        let mut appends = Vec::new();
        let (mut rows, mut records, mut count) = (Vec::new(), Vec::<Record>::new(), 0);
        let mut close = |rows: Vec<Row>, records: &[Record]| {
            let last = rows.last().map_or(Seq(0), |row| row.seq);
            let new = std::iter::from_fn(|| targets.next_if(|it| it.def.since <= last)).collect();
            composer.compose(&table, records, rows, new)
        };
        for row in self.rows {
            let record = row.open()?;
            // A command leaves one record under its sender's name; the others are Seaway's own.
            let is_command = record.by != Actor::Seaway;
            if is_command && count == commands {
                appends.push(close(std::mem::take(&mut rows), &records));
                records.clear();
                count = 0;
            }
            count += usize::from(is_command);
            rows.push(row);
            records.push(record);
        }
        appends.push(close(rows, &records));
        Ok(appends)
    }
}

/// Transactions of `commands` commands, which come from all projects evenly.
pub(super) fn transactions(all: Vec<Written>, commands: usize) -> Result<Vec<Vec<Append>>> {
    let each = commands.div_ceil(all.len());
    let mut transactions: Vec<Vec<Append>> = Vec::new();
    for written in all {
        for (number, append) in written.appends(each)?.into_iter().enumerate() {
            if number == transactions.len() {
                transactions.push(Vec::new());
            }
            transactions[number].push(append);
        }
    }
    Ok(transactions)
}
