use std::collections::BTreeMap;

use seaway_kernel::Record;
use seaway_model::{DeploymentId, Epoch, Name, TargetTable};
use seaway_wire::{Append, DeploymentStart, Row, SpanEdit, StoredTarget};

/// Puts together what an engine would hand to the store for records that are there already.
#[derive(Debug)]
pub(crate) struct Composer {
    project: Name,
    services: BTreeMap<DeploymentId, Name>,
}

impl Composer {
    /// The ownership that the first engine of a new project gets.
    pub(crate) const EPOCH: Epoch = Epoch(1);

    pub(crate) fn new(project: &Name) -> Self {
        Self { project: project.clone(), services: BTreeMap::new() }
    }

    /// The next rows of the log, with the records that they hold and the targets that are new.
    pub(crate) fn compose(
        &mut self,
        table: &TargetTable,
        records: &[Record],
        rows: Vec<Row>,
        targets: Vec<StoredTarget>,
    ) -> Append {
        let starts: Vec<_> = records.iter().filter_map(DeploymentStart::of).collect();
        let services = starts.iter().map(|start| (start.deployment, start.service.clone()));
        self.services.extend(services);
        let span = |record: &Record| {
            let service = &self.services[&record.deployment?];
            Some(SpanEdit::of(record, table, service))
        };
        let spans = records.iter().filter_map(span).flatten().collect();
        let (project, epoch, answers) = (self.project.clone(), Self::EPOCH, Vec::new());
        Append { project, epoch, rows, targets, spans, starts, answers }
    }
}
