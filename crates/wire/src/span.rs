use seaway_kernel::Record;
use seaway_model::{DeploymentId, Fact, Kind, Level, Name, Revision, Seq, TargetId, TargetTable};

/// A change to the table of spans, which answers "latest finished", "latest failed", "in progress"
/// and their `as of` forms by index.
///
/// A span is the time a deployment spends at a place that is asked about: the pipeline, a stage, a
/// group or a member. Sequences and tasks have none, because each span costs several pages that
/// are written. It is folded from the log like everything else and can be rebuilt from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanEdit {
    Open {
        place: TargetId,
        deployment: DeploymentId,
        revision: Revision,
        service: Name,
        seq: Seq,
    },
    /// Ends the open span of the deployment at the place; without one nothing happens.
    Close {
        place: TargetId,
        deployment: DeploymentId,
        ending: Fact,
        seq: Seq,
    },
    /// A retry, or a skip by a person: wherever the last span of the deployment at one of these
    /// places is closed, another one opens with its revision and service.
    Reopen {
        places: Vec<TargetId>,
        deployment: DeploymentId,
        seq: Seq,
    },
}

impl SpanEdit {
    /// What a record means for the spans of its deployment, which deploys `service`, in order.
    pub fn of(
        record: &Record,
        targets: &TargetTable,
        service: &Name,
    ) -> impl Iterator<Item = Self> + use<> {
        // What a person skips counts as done: what had failed around it goes on.
        let skips = record.fact == Fact::Skipped && record.by != seaway_kernel::Actor::Seaway;
        let reopens = record.deployment.filter(|_| skips || record.fact == Fact::Retried);
        let reopen = reopens.map(|deployment| {
            let places = enclosing(targets, record.target);
            Self::Reopen { places, deployment, seq: record.seq }
        });
        // A sequence that is triggered later opens what it is in again.
        let triggers = (record.kind, record.fact) == (Kind::SequenceTriggered, Fact::Finished);
        let reopen = reopen.or_else(|| {
            let deployment = record.deployment.filter(|_| triggers)?;
            let places = enclosing(targets, targets.get(record.target).parent);
            Some(Self::Reopen { places, deployment, seq: record.seq })
        });
        reopen.into_iter().chain(Self::at(record, targets, service))
    }

    fn at(record: &Record, targets: &TargetTable, service: &Name) -> Option<Self> {
        let deployment = record.deployment?;
        let node = targets.get(record.target);
        if !is_asked_about(node.level) {
            return None;
        }
        let (place, seq) = (node.place, record.seq);
        let open = || {
            let (revision, service) = (record.revision?, service.clone());
            Some(Self::Open { place, deployment, revision, service, seq })
        };
        let close = |ending| Some(Self::Close { place, deployment, ending, seq });
        match (record.kind, record.fact) {
            (
                Kind::PipelineStarted
                | Kind::StageStarted
                | Kind::GroupStarted
                | Kind::MemberStarted,
                Fact::Finished,
            ) => open(),
            (
                Kind::PipelineFinished
                | Kind::StageFinished
                | Kind::GroupFinished
                | Kind::MemberFinished,
                Fact::Finished
                | Fact::Failed
                | Fact::Cancelled
                | Fact::Superseded
                | Fact::Skipped
                | Fact::RolledBack,
            ) => close(record.fact),
            (_, Fact::Failed | Fact::Cancelled) if node.level == Level::Member => {
                close(record.fact)
            }
            _ => None,
        }
    }
}

fn is_asked_about(level: Level) -> bool {
    matches!(level, Level::Project | Level::Stage | Level::Group | Level::Member)
}

/// The places with spans that a target lies in, from itself up to the pipeline.
fn enclosing(targets: &TargetTable, target: TargetId) -> Vec<TargetId> {
    let mut places = Vec::new();
    let mut id = target;
    loop {
        let node = targets.get(id);
        if is_asked_about(node.level) {
            places.push(node.place);
        }
        if id == TargetTable::ROOT {
            return places;
        }
        id = node.parent;
    }
}
