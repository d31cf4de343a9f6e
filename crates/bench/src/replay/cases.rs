use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use seaway_engine::{Engine, Options};
use seaway_model::{Name, Seq};
use seaway_store::{Checkpoint, Store};
use tokio::runtime::Runtime;

use super::lanes::Lanes;
use crate::disk;
use crate::folding;
use crate::identity::name;
use crate::sample::median;
use crate::scribe::Scribe;
use crate::sheet::Sheet;
use crate::watch::{Watch, millis, per_second};

const IN_FLIGHT: usize = 100;

/// Records behind the checkpoint, in the short log and in the long one.
const TAIL: u64 = 5_000;

const SHORT: u64 = 10_000;

/// Each start is repeated so often.
const RUNS: usize = 3;

pub(crate) fn run(quick: bool, sheet: &mut Sheet) -> Result<()> {
    let runtime = Runtime::new().context("starting the runtime")?;
    sheet.note(&format!(
        "a start opens the store and loads through the engine, with the files in the page cache; \
         {IN_FLIGHT} deployments are in flight, {TAIL} records lie behind a checkpoint"
    ));
    sheet.note("the baseline of records_per_s reads the same rows and folds nothing");
    let long = if quick { 100_000 } else { 1_000_000 };
    for records in [SHORT, long] {
        runtime.block_on(measure(records, sheet))?;
    }
    Ok(())
}

async fn measure(records: u64, sheet: &mut Sheet) -> Result<()> {
    let dir = disk::directory()?;
    let project = name("replay");
    let checkpoint = write(dir.path(), &project, records).await?;
    let count = usize::try_from(records).context("counting the records")?;

    let case = format!("records={records}");
    let whole = starts(dir.path(), &project).await?;
    let read = reading(dir.path(), &project).await?;
    let seconds = |millis: f64| Duration::from_secs_f64(millis / 1_000.0);
    let rates = (per_second(count, seconds(whole)), per_second(count, read));
    sheet.put(&case, ("records_per_s", "1/s"), rates.0, Some(rates.1));
    sheet.put(&case, ("startup_ms", "ms"), whole, None);

    let store = Store::sqlite(dir.path())?;
    store.put_checkpoint(&project, &checkpoint).await?;
    drop(store);
    let short = sheet.get(&format!("records={SHORT},checkpoint"), "startup_ms");
    let case = format!("{case},checkpoint");
    let resumed = starts(dir.path(), &project).await?;
    let used = folding::last_checkpoint(&Store::sqlite(dir.path())?, &project).await?;
    ensure!(used == Some(checkpoint.seq), "the checkpoint was set aside");
    sheet.put(&case, ("records_per_s", "1/s"), per_second(count, seconds(resumed)), Some(rates.0));
    sheet.put(&case, ("startup_ms", "ms"), resumed, short.or(Some(whole)));
    if short.is_some() {
        sheet.note("the baseline of the last startup_ms is the one of the short log");
    }
    Ok(())
}

/// Writes the log, and gives a checkpoint from shortly before its end.
async fn write(dir: &Path, project: &Name, records: u64) -> Result<Checkpoint> {
    let mut scribe = Scribe::open(dir, project).await?;
    let mut lanes = Lanes::begin(&mut scribe, IN_FLIGHT)?;
    lanes.advance(&mut scribe, Seq(records - TAIL))?;
    let checkpoint = folding::checkpoint(&Store::sqlite(dir)?, project).await?;
    lanes.advance(&mut scribe, Seq(records))?;
    let in_flight = scribe.kernel().deployments().count();
    ensure!(in_flight == IN_FLIGHT, "{in_flight} deployments are in flight");
    Ok(checkpoint)
}

/// Milliseconds until a project can be used.
async fn starts(dir: &Path, project: &Name) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let watch = Watch::start();
        let store = Store::sqlite(dir)?;
        // No checkpoint is written: the next start should find what this one found.
        let options = Options { checkpoint_every: u64::MAX, ..Options::default() };
        let engine = Engine::start(store, options);
        let count = engine.project(project).inspect(|kernel| kernel.deployments().count()).await?;
        times.push(millis(watch.elapsed()));
        engine.stop().await;
        ensure!(count == IN_FLIGHT, "{count} deployments were loaded");
    }
    Ok(median(times))
}

/// How long it takes to read all rows.
async fn reading(dir: &Path, project: &Name) -> Result<Duration> {
    const PAGE: usize = 2_000;
    let store = Store::sqlite(dir)?;
    let watch = Watch::start();
    let mut after = Seq(0);
    loop {
        let page = store.rows(project, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(watch.elapsed()) };
        after = last.seq;
    }
}
