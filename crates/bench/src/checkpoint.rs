use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use seaway_engine::{Engine, Options, ProjectHandle};
use seaway_kernel::{Actor, Step};
use seaway_model::{Fact, Name};
use seaway_store::Store;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::disk;
use crate::folding::{self, last_checkpoint};
use crate::identity::{name, start};
use crate::pipeline::{REPORTED, done, fleet};
use crate::sample::Latencies;
use crate::scribe::Scribe;
use crate::sheet::Sheet;
use crate::watch::Watch;

const CALLERS: usize = 16;

/// How long the callers call without checkpoints, and with them: long enough for a whole one.
const CALM: Duration = Duration::from_secs(10);
const BUSY: Duration = Duration::from_secs(60);

/// So few records that the next checkpoint is due as soon as there is one.
const OFTEN: u64 = 1_000;

pub(crate) fn run(quick: bool, sheet: &mut Sheet) -> Result<()> {
    let runtime = Runtime::new().context("starting the runtime")?;
    let members = if quick { 10_000 } else { 1_000_000 };
    sheet.note("the baseline is the same load without checkpoints");
    runtime.block_on(measure(members, sheet))
}

async fn measure(members: usize, sheet: &mut Sheet) -> Result<()> {
    let dir = disk::directory()?;
    let project = name("fleet");
    let steps = write(dir.path(), &project, members).await?;
    let (first, second) = steps.split_at(steps.len() / 3);
    let mut calm = call(dir.path(), &project, (first, u64::MAX), CALM).await?;
    let before = last_checkpoint(&Store::sqlite(dir.path())?, &project).await?;
    let mut busy = call(dir.path(), &project, (second, OFTEN), BUSY).await?;
    let written = last_checkpoint(&Store::sqlite(dir.path())?, &project).await? > before;
    let whole = if written { "at least one" } else { "NOT EVEN ONE" };
    sheet.note(&format!(
        "{} commands with checkpoints, of which {whole} was complete, and {} without",
        busy.len(),
        calm.len()
    ));
    let case = format!("members={members},callers={CALLERS}");
    for (metric, share) in [("p50_ms", 0.5), ("p99_ms", 0.99)] {
        let (value, baseline) = (busy.quantile(share), calm.quantile(share));
        sheet.put(&case, (metric, "ms"), value, Some(baseline));
    }
    Ok(())
}

/// Brings all members into flight, and gives their steps. The state is kept as a checkpoint, so
/// that the starts that follow need not fold the log.
async fn write(dir: &Path, project: &Name, members: usize) -> Result<Vec<Step>> {
    let mut scribe = Scribe::open(dir, project).await?;
    for command in fleet(members) {
        scribe.write(&command, |_| {})?;
    }
    let mut steps = Vec::new();
    let (_, start) = start(&name("service"));
    scribe.write(&start, |record| {
        if record.kind == REPORTED[0] && record.fact == Fact::Dispatched {
            steps.extend(record.step());
        }
    })?;
    ensure!(steps.len() == members, "not every member is in flight");
    scribe.flush()?;
    drop(scribe);
    let store = Store::sqlite(dir)?;
    let checkpoint = folding::checkpoint(&store, project).await?;
    store.put_checkpoint(project, &checkpoint).await?;
    Ok(steps)
}

/// Callers that report steps, each its own, until the time is up.
async fn call(
    dir: &Path,
    project: &Name,
    (steps, checkpoint_every): (&[Step], u64),
    lasts: Duration,
) -> Result<Latencies> {
    let store = Store::sqlite(dir)?;
    let engine = Engine::start(store, Options { checkpoint_every, ..Options::default() });
    let handle = engine.project(project);
    handle.inspect(|_| ()).await?;
    let clock = Watch::start();
    let mut tasks = JoinSet::new();
    for mine in steps.chunks(steps.len().div_ceil(CALLERS)) {
        tasks.spawn(report(handle.clone(), mine.to_vec(), (clock, lasts)));
    }
    let mut latencies = Latencies::default();
    while let Some(ended) = tasks.join_next().await {
        latencies.extend(ended.context("a caller panicked")??);
    }
    drop(handle);
    engine.stop().await;
    Ok(latencies)
}

async fn report(
    project: ProjectHandle,
    steps: Vec<Step>,
    (clock, lasts): (Watch, Duration),
) -> Result<Latencies> {
    let by = Actor::named("caller");
    let mut latencies = Latencies::default();
    for step in steps {
        if clock.elapsed() >= lasts {
            break;
        }
        let watch = Watch::start();
        project.send(done(step), by.clone()).await?;
        latencies.push(watch.elapsed());
    }
    Ok(latencies)
}
