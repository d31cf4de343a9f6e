use anyhow::{Context, Result, ensure};
use seaway_kernel::{
    Actor, Command, Detail, Kernel, Pace, Record, Reply, Report, Step, Structure, StructureChange,
    Subscription,
};
use seaway_model::{
    DeploymentId, ExecutorName, Fact, Kind, Name, Outcome, Revision, Seq, Span, TargetTable,
    Timestamp,
};
use seaway_shipyard::parse;

use crate::identity::{name, start};
use crate::serve::work::{EXECUTOR, PROJECT, SEQUENCE, STAGE, TASKS, service, shipyard};

const HOUR: Span = Span::from_secs(3_600);

/// The records that each request leads to. They are not made up: a kernel does the work of one
/// sequence, and what it wrote for each request is the pattern of all that follow. So a request
/// costs the skeleton as many rows, spans and targets as the server, whatever the kernel of the day
/// does.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) trigger: Vec<Record>,
    pub(super) tasks: Vec<TaskPattern>,
    /// The log before the first sequence of the load: the pipeline, the executor, and a sequence
    /// that defines all targets.
    pub(super) before: Vec<Record>,
    kernel: Kernel,
}

#[derive(Debug)]
pub(super) struct TaskPattern {
    pub(super) claim: Vec<Record>,
    pub(super) started: Vec<Record>,
    pub(super) finished: Vec<Record>,
}

/// What distinguishes one use of a pattern from the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use<'a> {
    pub(super) deployment: DeploymentId,
    pub(super) service: &'a Name,
    pub(super) version: &'a str,
    pub(super) revision: Revision,
    /// What came with the request, as the text of a JSON object.
    pub(super) data: &'a str,
}

impl Pattern {
    pub(super) fn learn() -> Result<Self> {
        let checked = parse(&shipyard(), "shipyard.yaml").map_err(|problems| {
            anyhow::anyhow!("the shipyard of the benchmark is wrong: {problems:?}")
        })?;
        let mut scholar =
            Scholar { kernel: Kernel::new(&name(PROJECT)), by: Actor::named("admin") };
        let structure = Structure::from(&checked.shipyard);
        let change = StructureChange::between(&Structure::default(), &structure);
        let change = change.context("the shipyard has a stage")?;
        let mut before = scholar.see(&Command::ChangeStructure(change))?.0;
        let subscriptions = TASKS.iter().map(|task| Subscription {
            task: name(task),
            stages: Vec::new(),
            services: Vec::new(),
            expressions: Vec::new(),
        });
        let (subscriptions, executor) = (subscriptions.collect(), executor());
        before.extend(scholar.see(&Command::Register { executor, subscriptions, ttl: HOUR })?.0);
        let (trigger, tasks) = scholar.sequence()?;
        before.extend(trigger);
        for task in tasks {
            before.extend([task.claim, task.started, task.finished].into_iter().flatten());
        }
        let (trigger, tasks) = scholar.sequence()?;
        let mut pattern = Self { trigger, tasks, before, kernel: scholar.kernel };
        pattern.forget_texts();
        Ok(pattern)
    }

    pub(super) fn targets(&self) -> &TargetTable {
        self.kernel.targets()
    }

    /// The texts of the example, which would be copied each time only to be replaced.
    fn forget_texts(&mut self) {
        let answers = self.tasks.iter_mut().flat_map(|it| [&mut it.started, &mut it.finished]);
        for record in answers.chain([&mut self.trigger]).flatten() {
            if let Some(
                Detail::Answer(text)
                | Detail::Triggered { data: text, .. }
                | Detail::Happened { data: text, .. },
            ) = record.detail.as_deref_mut()
            {
                *text = "".into();
            }
        }
    }
}

/// The record at a position that says of one deployment what the pattern says of the example. Its
/// cause is as far back as that of the example, which has the same size.
pub(super) fn fill(pattern: &Record, given: Use<'_>, seq: Seq, at: Timestamp) -> Record {
    let mut record = pattern.clone();
    let back = pattern.cause.map(|cause| pattern.seq.0 - cause.0);
    record.cause = back.map(|back| Seq(seq.0.saturating_sub(back)));
    (record.seq, record.at) = (seq, at);
    record.deployment = pattern.deployment.map(|_| given.deployment);
    record.revision = pattern.revision.map(|_| given.revision);
    match record.detail.as_deref_mut() {
        Some(
            Detail::Answer(text)
            | Detail::Triggered { data: text, .. }
            | Detail::Happened { data: text, .. },
        ) => *text = given.data.into(),
        Some(Detail::Deploys { service, version }) => {
            *service = given.service.clone();
            *version = given.version.into();
        }
        _ => {}
    }
    record
}

struct Scholar {
    kernel: Kernel,
    by: Actor,
}

impl Scholar {
    /// All records of a command and of what follows from it.
    fn see(&mut self, command: &Command) -> Result<(Vec<Record>, Reply)> {
        let (mut records, now) = (Vec::new(), Timestamp(1));
        let reply = self.kernel.decide(command, now, &self.by, &mut records)?;
        while self.kernel.tick(now, 1_000, &mut records) == Pace::More {}
        Ok((records, reply))
    }

    fn sequence(&mut self) -> Result<(Vec<Record>, Vec<TaskPattern>)> {
        let (deployment, _) = start(&name("any"));
        let trigger = Command::Trigger {
            deployment,
            stage: name(STAGE),
            sequence: name(SEQUENCE),
            service: name(&service(0)),
            version: deployment.to_string().into(),
            known: None,
            data: Some(r#"{"note": "x"}"#.into()),
        };
        let (trigger, _) = self.see(&trigger)?;
        let mut offered = task(&trigger);
        let mut tasks = Vec::new();
        while let Some(step) = offered {
            let claim = Command::Claim { step, executor: executor(), ttl: HOUR };
            let (claim, reply) = self.see(&claim)?;
            let Reply::Claimed { step, fence, .. } = reply else {
                anyhow::bail!("a claim was answered with something else");
            };
            let mut report = |report| {
                let answer = Some(r#"{"note": "y"}"#.into());
                let seen = self.see(&Command::Report { step, fence, report, answer });
                seen.map(|(records, _)| records)
            };
            let started = report(Report::Started)?;
            let finished = report(Report::Ended(Outcome::Pass))?;
            offered = task(&finished);
            tasks.push(TaskPattern { claim, started, finished });
        }
        ensure!(tasks.len() == TASKS.len(), "the sequence has {} tasks", tasks.len());
        self.kernel.sweep();
        Ok((trigger, tasks))
    }
}

/// The task that is offered by some records.
fn task(records: &[Record]) -> Option<Step> {
    let offers = |it: &&Record| it.kind == Kind::TaskDone && it.fact == Fact::Dispatched;
    records.iter().find(offers).and_then(Record::step)
}

fn executor() -> ExecutorName {
    ExecutorName(EXECUTOR.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_leaves_records() {
        let pattern = Pattern::learn().unwrap();
        assert!(!pattern.trigger.is_empty());
        for task in &pattern.tasks {
            assert_eq!((task.claim.len(), task.started.len()), (1, 1));
            assert!(task.finished.len() > 1, "{:?}", task.finished);
        }
    }
}
