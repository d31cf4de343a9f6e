use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use seaway_kernel::reference::Reference;
use seaway_kernel::{Actor, Kernel, Record, Step};
use seaway_model::{DeploymentId, Fact, TargetId, Timestamp};

use crate::identity::{name, start};
use crate::pipeline::{REPORTED, done, fleet};
use crate::watch::{Watch, per_second};

/// Members in flight when the reference is timed. Each of them takes two records, and the reference
/// builds all of its graph for each record, so that it would take hours to get further.
const IN_FLIGHT: usize = 20;

/// Completions that are timed at least, and the time after which no more are.
const AT_LEAST: usize = 3;
const AT_MOST: usize = 10;
const ENOUGH: Duration = Duration::from_secs(60);

const NOW: Timestamp = Timestamp(1);

/// What the reference can do, and what was timed for it.
#[derive(Debug)]
pub(super) struct Timed {
    pub(super) steps_per_second: f64,
    pub(super) what: String,
}

/// The kernel writes the log, the reference follows it.
struct Pair {
    kernel: Kernel,
    reference: Reference,
    records: Vec<Record>,
}

/// Completes some steps in the middle of a run. The run is still at its first members, and the
/// reference looks no further than to the first step that can move, so that it is rather faster
/// here than later on.
pub(super) fn steps_per_second(members: usize) -> Result<Timed> {
    let project = name("fleet");
    let (kernel, reference) = (Kernel::new(&project), Reference::new(&project));
    let mut pair = Pair { kernel, reference, records: Vec::new() };
    let by = Actor::named("bench");
    let (deployment, start) = start(&name("service"));
    for command in fleet(members).iter().chain([&start]) {
        pair.kernel.decide(command, NOW, &by, &mut pair.records)?;
        pair.follow();
    }
    let mut targets = pair.dispatch()?;
    Rng::with_seed(7).shuffle(&mut targets);
    let (mut took, mut count) = (Duration::ZERO, 0);
    for &target in targets.iter().take(AT_MOST) {
        if count >= AT_LEAST && took > ENOUGH {
            break;
        }
        took += pair.complete(deployment, target)?;
        count += 1;
    }
    let what = format!(
        "the reference was timed on {count} completions, {IN_FLIGHT} of {members} members being \
         in flight: fold what was reported, ask for what to do, fold that"
    );
    Ok(Timed { steps_per_second: per_second(count, took), what })
}

impl Pair {
    fn follow(&mut self) {
        for record in self.records.drain(..) {
            let path = self.kernel.targets().path(record.target).to_string();
            self.reference.fold(&record, &path);
        }
    }

    /// One record at a time, until enough members are in flight.
    fn dispatch(&mut self) -> Result<Vec<TargetId>> {
        let mut targets = Vec::new();
        while targets.len() < IN_FLIGHT {
            let _more = self.kernel.tick(NOW, 1, &mut self.records);
            let record = self.records.first().context("the members are not dispatched in order")?;
            if record.kind == REPORTED[0] && record.fact == Fact::Dispatched {
                targets.push(record.target);
            }
            self.follow();
        }
        Ok(targets)
    }

    /// How long the reference takes for a completion, and for what the scheduler does about it.
    fn complete(&mut self, deployment: DeploymentId, target: TargetId) -> Result<Duration> {
        let step = Step { deployment, target, kind: REPORTED[0] };
        self.kernel.decide(&done(step), NOW, &Actor::named("bench"), &mut self.records)?;
        let _more = self.kernel.tick(NOW, 1, &mut self.records);
        let [reported, next] = &self.records[..] else {
            anyhow::bail!("a completion leads to exactly one record of the scheduler");
        };
        let path = self.kernel.targets().path(reported.target).to_string();
        let next_path = self.kernel.targets().path(next.target).to_string();
        let watch = Watch::start();
        self.reference.fold(reported, &path);
        let action = self.reference.next_action();
        self.reference.fold(next, &next_path);
        let took = watch.elapsed();
        let action = action.context("the reference sees nothing to do")?;
        let same = (action.path, action.kind, action.fact) == (next_path, next.kind, next.fact);
        ensure!(same, "the reference does something else than the kernel");
        self.records.clear();
        Ok(took)
    }
}
