use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use seaway_kernel::{Actor, Kernel, Pace, Record, Step};
use seaway_model::{Fact, Kind, Name, Timestamp};

use crate::identity::{name, start};
use crate::pipeline::{done, one_task};
use crate::sheet::Sheet;
use crate::watch::{Watch, per_second};

/// One permit for each service.
const KEYS: usize = 1_000;

const LONG: usize = 100_000;
const SHORT: usize = 1_000;

/// Handovers that are timed, in as many lines as it takes.
const HANDOVERS: usize = 20_000;

const NOW: Timestamp = Timestamp(1);
const TICK: usize = 4_096;

pub(crate) fn run(quick: bool, sheet: &mut Sheet) -> Result<()> {
    let long = if quick { 10_000 } else { LONG };
    let short = handovers_per_second(SHORT)?;
    let rate = handovers_per_second(long)?;
    let case = |waiters| format!("waiters={waiters},keys={KEYS}");
    sheet.put(&case(SHORT), ("handovers_per_s", "1/s"), short, None);
    sheet.put(&case(long), ("handovers_per_s", "1/s"), rate, Some(short));
    Ok(())
}

fn handovers_per_second(waiters: usize) -> Result<f64> {
    let (mut count, mut took) = (0, Duration::ZERO);
    while count < HANDOVERS {
        let mut lines = Lines::form(waiters)?;
        let handovers = waiters.min(HANDOVERS - count);
        took += lines.hand_over(handovers)?;
        count += handovers;
    }
    Ok(per_second(count, took))
}

/// Deployments of many services in one stage: the oldest of each service works, the others wait.
#[derive(Debug)]
struct Lines {
    kernel: Kernel,
    records: Vec<Record>,
    by: Actor,
    /// The tasks that are worked on.
    open: VecDeque<Step>,
}

impl Lines {
    fn form(waiters: usize) -> Result<Self> {
        let mut lines = Self {
            kernel: Kernel::new(&name("permits")),
            records: Vec::new(),
            by: Actor::named("bench"),
            open: VecDeque::new(),
        };
        let services: Vec<Name> =
            (0..KEYS).map(|number| name(&format!("service-{number}"))).collect();
        lines.kernel.decide(&one_task(), NOW, &lines.by, &mut lines.records)?;
        for _ in 0..=waiters / KEYS {
            for service in &services {
                let (_, start) = start(service);
                lines.kernel.decide(&start, NOW, &lines.by, &mut lines.records)?;
                lines.settle();
            }
        }
        ensure!(lines.open.len() == KEYS, "one deployment of each service works");
        Ok(lines)
    }

    /// Ends tasks, each of which lets the next in line begin.
    fn hand_over(&mut self, count: usize) -> Result<Duration> {
        let watch = Watch::start();
        for _ in 0..count {
            let step = self.open.pop_front().context("nobody works")?;
            self.kernel.decide(&done(step), NOW, &self.by, &mut self.records)?;
            self.settle();
            self.kernel.sweep();
        }
        let took = watch.elapsed();
        ensure!(self.open.len() == KEYS, "a permit was not handed on");
        Ok(took)
    }

    fn settle(&mut self) {
        loop {
            let pace = self.kernel.tick(NOW, TICK, &mut self.records);
            let work = |it: &&Record| it.kind == Kind::TaskDone && it.fact == Fact::Dispatched;
            self.open.extend(self.records.iter().filter(work).filter_map(Record::step));
            self.records.clear();
            if pace == Pace::Idle {
                return;
            }
        }
    }
}
