use std::time::Duration;

use anyhow::{Context, Result};
use tokio::runtime::Runtime;

use super::place::{Backend, postgres_url};
use super::round::{Case, Rates};
use crate::sample::median;
use crate::sheet::Sheet;

const CALLERS: [usize; 4] = [1, 16, 64, 256];

/// As many projects as callers.
const PROJECTS: usize = 256;

/// Engine and plain inserts take turns, so that what else the machine does meets both.
const ROUNDS: usize = 3;

pub(crate) fn run(quick: bool, sheet: &mut Sheet) -> Result<()> {
    let runtime = Runtime::new().context("starting the runtime")?;
    let (lasts, rounds) = match quick {
        true => (Duration::from_secs(1), 1),
        false => (Duration::from_secs(5), ROUNDS),
    };
    sheet.note(
        "a baseline inserts the rows of the run beside it, kept in memory, one transaction per \
         `callers` commands; its latencies are those of the transactions",
    );
    for case in cases(lasts, sheet) {
        runtime.block_on(measure(case, rounds, sheet))?;
    }
    Ok(())
}

fn cases(lasts: Duration, sheet: &Sheet) -> Vec<Case> {
    let case = |backend, callers, projects| Case { backend, callers, projects, lasts };
    let mut cases: Vec<Case> =
        CALLERS.iter().map(|&callers| case(Backend::Sqlite, callers, 1)).collect();
    cases.push(case(Backend::Sqlite, PROJECTS, PROJECTS));
    match postgres_url() {
        Some(_) => cases.extend(CALLERS.iter().map(|&it| case(Backend::Postgres, it, 1))),
        None => sheet.note("SKIPPED: PostgreSQL, because SEAWAY_TEST_POSTGRES is not set"),
    }
    cases
}

async fn measure(case: Case, rounds: usize, sheet: &mut Sheet) -> Result<()> {
    let name = case.name();
    let (mut engine, mut baseline) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (of_engine, of_baseline) = case.round().await.with_context(|| name.clone())?;
        engine.push(of_engine);
        baseline.push(of_baseline);
    }
    let middle = |all: &[Rates], of: fn(&Rates) -> f64| median(all.iter().map(of).collect());
    let mut put = |metric, of: fn(&Rates) -> f64| {
        sheet.put(&name, metric, middle(&engine, of), Some(middle(&baseline, of)));
    };
    put(("records_per_s", "1/s"), |it| it.records_per_s);
    put(("p50_ms", "ms"), |it| it.p50_ms);
    put(("p99_ms", "ms"), |it| it.p99_ms);
    if case.projects > 1 {
        let one = Case { projects: 1, ..case };
        let rate = middle(&engine, |it| it.records_per_s);
        let of_one = sheet.get(&one.name(), "records_per_s");
        sheet.put(&name, ("records_per_s_beside_one_project", "1/s"), rate, of_one);
    }
    Ok(())
}
