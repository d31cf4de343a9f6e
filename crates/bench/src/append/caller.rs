use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use seaway_engine::{ProjectHandle, RequestError};
use seaway_kernel::{Actor, Command, Kernel, Refusal, Step, Waiting};
use seaway_model::{Kind, Name, TargetId};

use crate::identity::start;
use crate::pipeline::done;
use crate::sample::Latencies;
use crate::watch::Watch;

/// The steps of a deployment that have to be reported, in an order in which they become doable.
pub(super) type Route = Arc<[(TargetId, Kind)]>;

/// Leads one deployment through the pipeline and notes what it met. All others go the same way,
/// because targets belong to the pipeline and not to a deployment.
pub(super) async fn explore(project: &ProjectHandle) -> Result<Route> {
    const STEPS: usize = 1_000;
    let (deployment, start) = start(&crate::identity::name("scout"));
    let by = Actor::named("scout");
    project.send(start, by.clone()).await?;
    let mut route = Vec::new();
    loop {
        let look = move |kernel: &Kernel| kernel.waiting(deployment, STEPS);
        let waiting = project.inspect(look).await?;
        if waiting.is_empty() {
            ensure!(!route.is_empty(), "the pipeline has nothing to report");
            return Ok(route.into());
        }
        let open = waiting.into_iter().filter(|it| it.why == Waiting::Unclaimed);
        let open: Vec<Step> = open.map(|it| it.step).collect();
        ensure!(!open.is_empty(), "the pipeline waits for something else than a report");
        for step in open {
            project.send(done(step), by.clone()).await?;
            route.push((step.target, step.kind));
        }
    }
}

/// Somebody who deploys one service again and again, and waits for each answer.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) project: ProjectHandle,
    pub(super) route: Route,
    pub(super) service: Name,
}

impl Caller {
    /// Goes on until the time is up, in the middle of a deployment.
    pub(super) async fn run(self, clock: Watch, until: Duration) -> Result<Latencies> {
        let mut latencies = Latencies::default();
        let by = Actor::named("caller");
        loop {
            let (deployment, start) = start(&self.service);
            let reports = self.route.iter().map(|&(target, kind)| {
                let step = Step { deployment, target, kind };
                done(step)
            });
            for command in std::iter::once(start).chain(reports) {
                if clock.elapsed() >= until {
                    return Ok(latencies);
                }
                let watch = Watch::start();
                self.send(command, &by).await?;
                latencies.push(watch.elapsed());
            }
        }
    }

    /// After a flood of commands the step may be dispatched with the next append only; whoever runs
    /// tasks hears of it then. Here asking again stands for that, and belongs to the latency.
    async fn send(&self, command: Command, by: &Actor) -> Result<()> {
        loop {
            match self.project.send(command.clone(), by.clone()).await {
                Ok(_) => return Ok(()),
                Err(RequestError::Refused(Refusal::NotOffered)) => tokio::task::yield_now().await,
                Err(error) => return Err(error.into()),
            }
        }
    }
}
