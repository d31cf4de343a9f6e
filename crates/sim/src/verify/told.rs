use seaway_kernel::{Detail, Effect, Reply, Step};
use seaway_model::{DeploymentId, Digest, ExecutorName, Fact, Kind, Outcome, Seq, TargetTable};

use super::ledger::Status;
use super::log::Verifier;
use super::violation::{Rule, Violation};

fn broken(detail: impl Into<String>) -> Result<(), Violation> {
    Err(Violation::new(Rule::ToldAfterDurable, detail))
}

/// What a reply is about.
#[derive(Clone, Debug)]
pub(crate) enum About {
    Start(DeploymentId),
    /// A deployment that is triggered; which one is open if the request may have come before.
    Launch(Option<DeploymentId>),
    Claim(Step, ExecutorName),
    Answer(Step),
    /// What a person says about a task.
    Verdict(Step, Outcome),
    Other,
}

impl Verifier {
    /// Somebody is told that the log is durable up to here.
    pub(crate) fn told(&self, head: Seq) -> Result<(), Violation> {
        if head > self.head() {
            return broken(format!("{head} was told, but {} is durable", self.head()));
        }
        Ok(())
    }

    /// A reply must be borne out by the record that it names.
    pub(crate) fn replied(&self, reply: &Reply, about: &About) -> Result<(), Violation> {
        let (Reply::Done { at }
        | Reply::Started { at, .. }
        | Reply::Claimed { at, .. }
        | Reply::Taken { at, .. }) = reply;
        self.told(*at)?;
        let Some((record, _)) = at.0.checked_sub(1).and_then(|at| self.durable.get(at as usize))
        else {
            return Ok(());
        };
        let fits = match (reply, about) {
            (Reply::Started { revision, .. }, About::Start(deployment)) => {
                record.kind == Kind::PipelineStarted
                    && record.deployment == Some(*deployment)
                    && record.revision == Some(*revision)
            }
            (Reply::Started { deployment, revision, .. }, About::Launch(asked)) => {
                matches!(record.kind, Kind::SequenceTriggered | Kind::Event)
                    && asked.is_none_or(|asked| asked == *deployment)
                    && record.deployment == Some(*deployment)
                    && record.revision == Some(*revision)
            }
            (Reply::Done { .. }, About::Verdict(step, outcome)) => {
                let share = self.paths.share(record.target).map(|(task, _)| task);
                record.step().map(|it| Step { target: share.unwrap_or(it.target), ..it })
                    == Some(*step)
                    && record.outcome == Some(*outcome)
            }
            (Reply::Claimed { fence, .. }, About::Claim(step, executor)) => {
                let holder = match record.detail.as_deref() {
                    Some(Detail::Lease { executor, .. }) => Some(executor),
                    _ => None,
                };
                // In a triggered stage it holds a share of the task.
                let share = self.paths.share(record.target).map(|(task, _)| task);
                let target = share.unwrap_or(record.target);
                record.fact == Fact::Claimed
                    && record.step().map(|it| Step { target, ..it }) == Some(*step)
                    && record.fence() == *fence
                    && holder == Some(executor)
            }
            (Reply::Done { .. }, About::Answer(step)) => record.step() == Some(*step),
            _ => true,
        };
        if fits { Ok(()) } else { broken(format!("{reply:?} is not what record {at} says")) }
    }

    /// An effect must follow from a durable record.
    pub(crate) fn acted(&self, effect: &Effect) -> Result<(), Violation> {
        let has = |step: &Step, facts: &[Fact]| {
            let mut records = self.durable.iter().rev();
            records.any(|(it, _)| it.step() == Some(*step) && facts.contains(&it.fact))
        };
        let known = match effect {
            Effect::Offer { step, attempt } => {
                let life = self.lives.get(&step.deployment);
                let log = life.and_then(|life| life.steps.get(&(step.target, step.kind)));
                log.is_some_and(|log| log.tried && log.attempt >= *attempt)
                    || has(step, &[Fact::Dispatched, Fact::LeaseExpired])
            }
            Effect::Cancel { step, .. } => has(step, &[Fact::Cancelled, Fact::Skipped]),
            Effect::Ended { deployment } => self.lives.get(deployment).is_some_and(|life| {
                *life.status((TargetTable::ROOT, Kind::PipelineFinished)) != Status::Open
                    || life.steps.contains_key(&(TargetTable::ROOT, Kind::PipelineFinished))
            }),
        };
        if known { Ok(()) } else { broken(format!("{effect:?} has no durable record")) }
    }

    /// A caller was told that its deployment certainly did not start.
    pub(crate) fn denied(&mut self, deployment: DeploymentId) -> Result<(), Violation> {
        self.denied.insert(deployment);
        match self.lives.contains_key(&deployment) {
            true => broken(format!("{deployment} was denied, but it started")),
            false => Ok(()),
        }
    }

    /// After a crash: everything that was durable is where it was.
    pub(crate) fn nothing_lost<'a>(
        &self,
        hashes: impl ExactSizeIterator<Item = &'a Digest>,
    ) -> Result<(), Violation> {
        let there = hashes.len();
        let same = self.durable.iter().zip(hashes).take_while(|((_, a), b)| a == *b).count();
        if same < self.durable.len() {
            let detail = format!(
                "{} records were durable; {there} are there, {same} the same",
                self.durable.len()
            );
            return Err(Violation::new(Rule::NothingLost, detail));
        }
        Ok(())
    }
}
