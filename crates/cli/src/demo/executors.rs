use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use seaway_engine::{Notice, ProjectHandle};
use seaway_kernel::{Actor, Command, Effect, Reply, Report, Step};
use seaway_model::{DeploymentId, ExecutorName, Kind, Outcome, Span};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::demo::example::Example;

/// What runs the tasks of the example: an agent on each host, and a worker for everything else.
#[derive(Clone, Debug)]
pub(super) struct Executors {
    project: ProjectHandle,
    faulty: DeploymentId,
    asked: Arc<Notify>,
}

/// What an executor does about one step.
#[derive(Debug)]
struct Job {
    executor: String,
    takes: Duration,
    result: Result<&'static str, &'static str>,
    /// The test that fails goes on until somebody asked why the others wait.
    until_asked: bool,
}

impl Executors {
    pub(super) fn new(project: ProjectHandle, example: &Example) -> Self {
        let faulty = example.faulty.deployment;
        Self { project, faulty, asked: Arc::new(Notify::new()) }
    }

    /// To be notified when the failing test may end.
    pub(super) fn asked(&self) -> Arc<Notify> {
        self.asked.clone()
    }

    /// Performs whatever is offered. Ends only when something is wrong.
    pub(super) async fn serve(self, mut notices: mpsc::Receiver<Notice>) -> Result<()> {
        let mut jobs = JoinSet::new();
        loop {
            tokio::select! {
                notice = notices.recv() => match notice.map(|notice| notice.effect) {
                    Some(Effect::Offer { step, .. }) => {
                        jobs.spawn(self.clone().perform(step));
                    }
                    Some(Effect::Cancel { .. } | Effect::Ended { .. }) => {}
                    None => bail!("the engine has stopped"),
                },
                Some(done) = jobs.join_next() => done.context("an executor panicked")??,
            }
        }
    }

    async fn perform(self, step: Step) -> Result<()> {
        let look =
            move |kernel: &seaway_kernel::Kernel| kernel.targets().path(step.target).to_string();
        let path = self.project.inspect(look).await?;
        let job = self.job(step, &path);
        let by = Actor::named(&job.executor);
        let (executor, ttl) = (ExecutorName(job.executor.into()), Span::from_secs(60));
        let claim = Command::Claim { step, executor, ttl };
        let Reply::Claimed { fence, .. } = self.project.send(claim, by.clone()).await? else {
            bail!("a claim was not answered with a fence");
        };
        sleep(job.takes).await;
        if job.until_asked {
            self.asked.notified().await;
        }
        let (outcome, answer) = match job.result {
            Ok(answer) => (Outcome::Pass, answer),
            Err(answer) => (Outcome::Fail, answer),
        };
        let (report, answer) = (Report::Ended(outcome), Some(answer.into()));
        self.project.send(Command::Report { step, fence, report, answer }, by).await?;
        Ok(())
    }

    fn job(&self, step: Step, path: &str) -> Job {
        let last = path.rsplit_once('/').map_or(path, |(_, last)| last);
        let agent = format!("agent-{last}");
        let millis = Duration::from_millis;
        let job = |executor: &str, takes, result| Job {
            executor: executor.to_owned(),
            takes: millis(takes),
            result,
            until_asked: false,
        };
        match (step.kind, last) {
            (Kind::ArtifactRegistered, _) => job("worker", 60, Ok("stored")),
            (Kind::MemberDeployed, "us-2") => job(&agent, 350, Ok("runs, after a slow start")),
            (Kind::MemberDeployed, _) => job(&agent, 150, Ok("runs")),
            (Kind::MemberTested, _) => job(&agent, 80, Ok("answers")),
            (Kind::TaskDone, "test") if step.deployment == self.faulty => {
                let failed = job("worker", 400, Err("3 of 40 requests were answered with 500"));
                Job { until_asked: true, ..failed }
            }
            (Kind::TaskDone, "test") => job("worker", 300, Ok("40 of 40 requests were answered")),
            _ => job("worker", 120, Ok("done")),
        }
    }
}
