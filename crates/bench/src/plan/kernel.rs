use std::time::Duration;

use anyhow::{Result, ensure};
use fastrand::Rng;
use seaway_kernel::{Actor, Kernel, Pace, Record, Step};
use seaway_model::{DeploymentId, Fact, TargetId, Timestamp};

use crate::identity::{name, start};
use crate::pipeline::{CHAIN, REPORTED, done, fleet};
use crate::watch::{Watch, per_second};

/// Runs over few members are repeated until they took this long together.
const ENOUGH: Duration = Duration::from_secs(1);

/// Records of one tick, as in the engine.
const TICK: usize = 4_096;

const NOW: Timestamp = Timestamp(1);

/// Steps per second of the kernel alone.
pub(super) fn steps_per_second(members: usize) -> Result<f64> {
    let (mut steps, mut took) = (0, Duration::ZERO);
    let mut rng = Rng::with_seed(7);
    while took < ENOUGH {
        took += Course::new(members)?.run(&mut rng)?;
        steps += members * CHAIN.len();
    }
    Ok(per_second(steps, took))
}

/// A deployment on its way over all members.
#[derive(Debug)]
struct Course {
    kernel: Kernel,
    members: usize,
    records: Vec<Record>,
    /// The members in the order in which they were met, as the log numbers them.
    targets: Vec<TargetId>,
}

impl Course {
    fn new(members: usize) -> Result<Self> {
        let mut kernel = Kernel::new(&name("fleet"));
        let mut records = Vec::new();
        for command in fleet(members) {
            kernel.decide(&command, NOW, &Actor::named("bench"), &mut records)?;
            records.clear();
        }
        Ok(Self { kernel, members, records, targets: Vec::with_capacity(members) })
    }

    /// Completions come kind by kind. Only what the kernel does is timed, not the shuffling.
    fn run(mut self, rng: &mut Rng) -> Result<Duration> {
        let by = Actor::named("bench");
        let (deployment, start) = start(&name("service"));
        let watch = Watch::start();
        self.kernel.decide(&start, NOW, &by, &mut self.records)?;
        self.settle(true);
        let mut took = watch.elapsed();
        ensure!(self.targets.len() == self.members, "not every member was dispatched");
        for kind in REPORTED {
            let mut order = std::mem::take(&mut self.targets);
            rng.shuffle(&mut order);
            let watch = Watch::start();
            for &target in &order {
                self.complete(Step { deployment, target, kind }, &by)?;
            }
            took += watch.elapsed();
            self.targets = order;
        }
        self.check_ended(deployment)?;
        Ok(took)
    }

    fn complete(&mut self, step: Step, by: &Actor) -> Result<()> {
        self.kernel.decide(&done(step), NOW, by, &mut self.records)?;
        self.settle(false);
        Ok(())
    }

    /// Ticks until nothing moves by itself, and drops the records.
    fn settle(&mut self, collects: bool) {
        loop {
            let pace = self.kernel.tick(NOW, TICK, &mut self.records);
            if collects {
                let first = |it: &&Record| it.kind == REPORTED[0] && it.fact == Fact::Dispatched;
                self.targets.extend(self.records.iter().filter(first).map(|it| it.target));
            }
            self.records.clear();
            if pace == Pace::Idle {
                return;
            }
        }
    }

    fn check_ended(&mut self, deployment: DeploymentId) -> Result<()> {
        self.kernel.sweep();
        let open = self.kernel.deployments().any(|(id, _)| id == deployment);
        ensure!(!open, "the deployment has not ended after all its steps were reported");
        Ok(())
    }
}
