use seaway_model::{Attempt, DeploymentId, Fact, Kind, Outcome, Seq, TargetId, Timestamp};

use crate::record::{Actor, Detail, Reason, Record};
use crate::state::{Spot, Verdict};
use crate::{Kernel, fold};

/// A record about a step, before it has its place in the log.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) fact: Fact,
    pub(crate) n: u32,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) detail: Option<Box<Detail>>,
    pub(crate) cause: Option<Seq>,
}

impl Draft {
    pub(crate) fn new(fact: Fact) -> Self {
        Self { fact, n: 0, outcome: None, detail: None, cause: None }
    }

    pub(crate) fn because(fact: Fact, reason: Reason) -> Self {
        Self { detail: Some(Box::new(Detail::Because(reason))), ..Self::new(fact) }
    }

    pub(crate) fn ends(verdict: Verdict) -> Self {
        let (fact, outcome) = match verdict {
            Verdict::Passed => (Fact::Finished, Some(Outcome::Pass)),
            Verdict::Warned => (Fact::Finished, Some(Outcome::Warning)),
            Verdict::Failed => (Fact::Failed, Some(Outcome::Fail)),
            Verdict::Superseded => (Fact::Superseded, None),
        };
        Self { outcome, ..Self::new(fact) }
    }
}

/// Who writes, when, and where to.
pub(crate) struct Pen<'a> {
    pub(crate) now: Timestamp,
    pub(crate) by: &'a Actor,
    pub(crate) out: &'a mut Vec<Record>,
}

impl Kernel {
    /// Writes a record about a step that is at `spot`.
    pub(crate) fn emit(&mut self, id: DeploymentId, spot: Spot, draft: Draft, pen: &mut Pen<'_>) {
        let deployment = &self.deployments[&id];
        let (target, kind) = fold::name_spot(deployment, spot, &mut self.targets, self.head.next());
        self.emit_at(id, (target, kind), draft, pen);
    }

    /// Writes a record about a step, wherever it is.
    pub(crate) fn emit_at(
        &mut self,
        id: DeploymentId,
        (target, kind): (TargetId, Kind),
        draft: Draft,
        pen: &mut Pen<'_>,
    ) {
        let deployment = &self.deployments[&id];
        let (attempt, revision) = (deployment.tries((target, kind)).attempt, deployment.revision);
        let attempt = if draft.fact == Fact::Retried { attempt.next() } else { attempt };
        let about = (Some(id), Some(revision), target, kind, attempt);
        self.write(about, draft, pen);
    }

    pub(crate) fn write(
        &mut self,
        (deployment, revision, target, kind, attempt): About,
        draft: Draft,
        pen: &mut Pen<'_>,
    ) {
        let record = Record {
            seq: self.head.next(),
            at: pen.now.max(self.time),
            deployment,
            target,
            revision,
            kind,
            fact: draft.fact,
            attempt,
            n: draft.n,
            outcome: draft.outcome,
            detail: draft.detail,
            cause: draft.cause,
            by: pen.by.clone(),
        };
        self.apply(&record).expect("a record that was just decided fits the state it came from");
        pen.out.push(record);
    }
}

type About = (Option<DeploymentId>, Option<seaway_model::Revision>, TargetId, Kind, Attempt);
