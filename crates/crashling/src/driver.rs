use std::time::Duration;

use anyhow::{Context, Result};
use seaway_engine::{Engine, Notice, Options, ProjectHandle};
use seaway_kernel::{Command, Effect, Reply, Report, Step};
use seaway_model::{ExecutorName, Fence, Outcome, Span};
use seaway_store::Store;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep};

use crate::ack::send;
use crate::work::{PROJECT, Todo, fence, name, start, structure, todo};

/// Callers that start deployments at the same time.
const CALLERS: usize = 6;

/// A caller waits while this many deployments are under way.
const IN_PROGRESS: usize = 300;

/// Steps that are worked on at the same time; others are found again by the next look.
const JOBS: usize = 64;

/// How often to look for work that was offered to nobody.
const LOOK: Duration = Duration::from_millis(100);

/// Goes on until it is killed.
pub(crate) async fn run(store: Store) -> Result<()> {
    let (engine, notices) = open(&store).await?;
    let project = engine.project(&name(PROJECT));
    let mut tasks = JoinSet::new();
    tasks.spawn(execute(Executor::new(&store, &project), notices));
    for _ in 0..CALLERS {
        tasks.spawn(call(project.clone()));
    }
    tasks.join_next().await.context("there are tasks")??
}

/// Starts nothing new, and ends when every deployment has ended.
pub(crate) async fn drain(store: Store) -> Result<()> {
    let (engine, notices) = open(&store).await?;
    let project = engine.project(&name(PROJECT));
    let drained = {
        let mut look = interval(LOOK);
        let empty = async {
            loop {
                look.tick().await;
                if project.inspect(|kernel| kernel.deployments().next().is_none()).await? {
                    return anyhow::Ok(());
                }
            }
        };
        tokio::select! {
            drained = empty => drained,
            ended = execute(Executor::new(&store, &project), notices) => ended,
        }
    };
    engine.stop().await;
    drained
}

async fn open(store: &Store) -> Result<(Engine, mpsc::Receiver<Notice>)> {
    store.create_project(&name(PROJECT)).await?;
    let (effects, notices) = mpsc::channel(10_000);
    // Checkpoints are written often, so that kills also meet them, and a server that was restarted
    // is found again soon.
    let options = Options {
        backoff: (Duration::from_millis(50), Duration::from_millis(500)),
        owner: format!("crashling-{}", std::process::id()).into(),
        checkpoint_every: 500,
        effects: Some(effects),
        ..Options::default()
    };
    let engine = Engine::start(store.clone(), options);
    let project = engine.project(&name(PROJECT));
    if project.inspect(|kernel| kernel.structure().stages.is_empty()).await? {
        send(&project, structure()).await?;
    }
    Ok((engine, notices))
}

async fn call(project: ProjectHandle) -> Result<()> {
    loop {
        let busy = project.inspect(|kernel| kernel.deployments().count() >= IN_PROGRESS).await;
        if busy.unwrap_or(true) || send(&project, start()).await?.is_none() {
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Performs what is offered, and now and then looks for what was missed.
async fn execute(executor: Executor, mut notices: mpsc::Receiver<Notice>) -> Result<()> {
    let mut jobs = JoinSet::new();
    let mut look = interval(LOOK);
    loop {
        tokio::select! {
            Some(notice) = notices.recv(), if jobs.len() < JOBS => {
                if let Effect::Offer { step, .. } = notice.effect {
                    jobs.spawn(executor.clone().perform(Todo::Claim(step)));
                }
            }
            _ = look.tick() => {
                for todo in executor.look().await {
                    if jobs.len() < JOBS {
                        jobs.spawn(executor.clone().perform(todo));
                    }
                }
            }
            Some(done) = jobs.join_next() => done??,
        }
    }
}

#[derive(Clone, Debug)]
struct Executor {
    name: ExecutorName,
    store: Store,
    project: ProjectHandle,
}

impl Executor {
    fn new(store: &Store, project: &ProjectHandle) -> Self {
        let name = ExecutorName(format!("crashling-{}", std::process::id()).into());
        Self { name, store: store.clone(), project: project.clone() }
    }

    async fn look(&self) -> Vec<Todo> {
        let me = self.name.clone();
        // Without the store there is nothing to look at; it comes back.
        self.project.inspect(move |kernel| todo(kernel, &me)).await.unwrap_or_default()
    }

    /// A step whose claim or answer was lost with the store is free again when its lease ends.
    async fn perform(self, todo: Todo) -> Result<()> {
        let (step, fence) = match todo {
            Todo::Claim(step) => (step, self.claim(step).await?),
            Todo::TakeOver(step) => (step, fence(&self.store, step).await.unwrap_or_default()),
        };
        let Some(fence) = fence else { return Ok(()) };
        // About one deployment in twenty fails.
        let fails = step.deployment.0.as_bytes()[15] < 12;
        let report = Report::Ended(if fails { Outcome::Fail } else { Outcome::Pass });
        send(&self.project, Command::Report { step, fence, report, answer: None }).await?;
        Ok(())
    }

    async fn claim(&self, step: Step) -> Result<Option<Fence>> {
        let (executor, ttl) = (self.name.clone(), Span::from_secs(1));
        match send(&self.project, Command::Claim { step, executor, ttl }).await? {
            Some(Reply::Claimed { fence, .. }) => Ok(Some(fence)),
            _ => Ok(None),
        }
    }
}
