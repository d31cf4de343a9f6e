//! A plan says beforehand what a change does to everything under way.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use seaway_kernel::{
    Actor, Command, Fate, Foreseen, Kernel, Pace, Reason, Record, Reply, Report, Step,
    StructureChange, Subscription, Waiting,
};
use seaway_model::{
    DeploymentId, ExecutorName, Fact, Fence, Kind, Level, Outcome, Span, Timestamp,
};

use crate::against_reference::Dice;
use crate::harness::{Harness, histories, name};
use crate::shipyards::{TASKS, changed, play};

const LONG: Span = Span::from_secs(80_000);

/// What was seen of one deployment: by path without run numbers, and kind.
type Seen = BTreeMap<(String, Kind), Fate>;

/// A kernel of its own that is driven by executors who pass everything.
struct Drive {
    kernel: Kernel,
    log: Vec<Record>,
    seen: usize,
    now: Timestamp,
    /// When the executors would be given up.
    end: Timestamp,
}

impl Drive {
    fn command(&mut self, command: &Command) -> Option<Reply> {
        let by = Actor::named("bob");
        self.kernel.decide(command, self.now, &by, &mut self.log).ok()
    }

    fn settle(&mut self) {
        while self.kernel.tick(self.now, 1_000, &mut self.log) == Pace::More {}
        self.kernel.sweep();
    }

    fn waits(&self) -> Vec<(Step, Waiting)> {
        let ids: Vec<DeploymentId> = self.kernel.deployments().map(|(id, _)| id).collect();
        let waits = ids.into_iter().flat_map(|id| self.kernel.waiting(id, usize::MAX));
        waits.map(|wait| (wait.step, wait.why)).collect()
    }

    fn fence(&self, share: Step) -> Fence {
        let mut past = self.log.iter().rev().filter(|record| record.step() == Some(share));
        let claim = past.find(|record| record.fact == Fact::Claimed).expect("it was claimed");
        Fence { attempt: claim.attempt, lease: claim.n }
    }

    fn pass(&mut self, share: Step, fence: Fence) {
        let report = Report::Ended(Outcome::Pass);
        let report = Command::Report { step: share, fence, report, answer: None };
        self.command(&report).expect("who holds a share may answer");
    }

    /// Everything passes until nothing moves.
    fn run(&mut self) {
        let ids: Vec<DeploymentId> = self.kernel.deployments().map(|(id, _)| id).collect();
        for deployment in ids {
            self.command(&Command::Resume { deployment });
        }
        for _ in 0..5_000 {
            self.settle();
            let mut later = Vec::new();
            let mut busy = false;
            for (step, wait) in self.waits() {
                match wait {
                    Waiting::Offered { to, working } => {
                        busy = true;
                        for (executor, _) in working {
                            let path = self.kernel.targets().path(step.target).to_string();
                            let target = self.kernel.targets().find(&format!("{path}@{executor}"));
                            let target = target.expect("it was claimed");
                            let share = Step { target, ..step };
                            self.pass(share, self.fence(share));
                        }
                        for executor in to {
                            let claim = Command::Claim { step, executor, ttl: LONG };
                            let reply = self.command(&claim);
                            let Some(Reply::Claimed { step, fence, .. }) = reply else {
                                panic!("what is offered can be taken");
                            };
                            self.pass(step, fence);
                        }
                    }
                    Waiting::Approval { .. } => {
                        busy = true;
                        let (outcome, comment) = (Outcome::Pass, None);
                        let approved = self.command(&Command::Approve { step, outcome, comment });
                        assert!(approved.is_some(), "what waits for a person can be approved");
                    }
                    Waiting::Delayed { until } | Waiting::Retrying { until, .. } => {
                        later.push(until);
                    }
                    Waiting::NoExecutor { task, .. } => panic!("nobody does {task}"),
                    _ => {}
                }
            }
            // What waits for nobody but a person may still run out of time.
            let wakeup = self.kernel.next_wakeup().filter(|at| *at < self.end);
            match later.into_iter().min().or(wakeup) {
                _ if busy => {}
                Some(until) => self.now = self.now.max(until),
                None => return,
            }
        }
        panic!("it does not come to rest");
    }

    /// What became of every step since the beginning of the drive.
    fn futures(&self) -> BTreeMap<DeploymentId, Seen> {
        let mut futures: BTreeMap<DeploymentId, Seen> = BTreeMap::new();
        for record in &self.log[self.seen..] {
            let Some(step) = record.step() else { continue };
            if self.kernel.targets().get(step.target).level == Level::Executor {
                continue;
            }
            let path = self.kernel.targets().path(step.target).to_string();
            let parts = path.split('/').map(|part| part.split('#').next().unwrap_or(part));
            let path = parts.collect::<Vec<_>>().join("/");
            let seen = futures.entry(step.deployment).or_default();
            let reason = record.reason().cloned();
            match (record.kind, record.fact) {
                (Kind::SequenceTriggered, Fact::Finished) => {
                    seen.remove(&(path.clone(), Kind::SequenceFinished));
                    seen.insert((path, record.kind), Fate::Done);
                }
                (Kind::TaskDone, Fact::Finished) => {
                    seen.insert((path, record.kind), Fate::Done);
                }
                (Kind::SequenceTriggered | Kind::TaskDone, Fact::Skipped) => {
                    let reason = reason.expect("skips have a reason");
                    if reason != Reason::Condition {
                        seen.insert((path, record.kind), Fate::Skipped(reason));
                    }
                }
                (Kind::SequenceFinished, Fact::Cancelled | Fact::Superseded) => {
                    seen.insert((path, record.kind), Fate::Ended);
                }
                _ => {}
            }
        }
        futures
    }
}

fn differences(without: &Seen, with: &Seen) -> Vec<Foreseen> {
    let keys: BTreeSet<&(String, Kind)> = without.keys().chain(with.keys()).collect();
    let changes = keys.into_iter().filter_map(|key| {
        let fate = match (without.get(key), with.get(key)) {
            (before, after) if before == after => return None,
            (_, Some(after)) => after.clone(),
            (Some(Fate::Done), None) => Fate::Lost,
            _ => return None,
        };
        Some(Foreseen { path: key.0.clone(), kind: key.1, fate })
    });
    changes.collect()
}

fn drive(harness: &Harness, change: Option<&StructureChange>) -> BTreeMap<DeploymentId, Seen> {
    let mut drive = Drive {
        kernel: harness.kernel.clone(),
        log: harness.log.clone(),
        seen: harness.log.len(),
        now: harness.now,
        end: harness.now + LONG,
    };
    if let Some(change) = change {
        drive.command(&Command::ChangeStructure(change.clone())).expect("the change is allowed");
    }
    drive.run();
    drive.futures()
}

fn foreseen(numbers: &[u64]) {
    let mut harness = play(numbers);
    let subscriptions = TASKS.map(|task| Subscription {
        task: name(task),
        stages: Vec::new(),
        services: Vec::new(),
        expressions: Vec::new(),
    });
    let executor = ExecutorName("everybody".into());
    let (subscriptions, ttl) = (subscriptions.to_vec(), LONG);
    harness.command(&Command::Register { executor, subscriptions, ttl }).expect("it may");
    harness.settle();
    harness.kernel.sweep();
    let old = harness.kernel.structure().clone();
    let new = changed(&mut Dice(numbers[numbers.len() / 2].rotate_left(7)), &old);
    let Some(change) = StructureChange::between(&old, &new) else { return };
    let Ok(plan) = harness.kernel.plan(&change, harness.now) else { return };
    let (without, with) = (drive(&harness, None), drive(&harness, Some(&change)));
    let nothing = Seen::new();
    let mut affected = 0;
    for (id, _) in harness.kernel.deployments() {
        let expected =
            differences(without.get(&id).unwrap_or(&nothing), with.get(&id).unwrap_or(&nothing));
        let said = plan.affected.iter().find(|it| it.deployment == id);
        let said = said.map(|it| it.changes.clone()).unwrap_or_default();
        assert_eq!(said, expected, "the plan (left) and what happened (right)");
        affected += usize::from(!expected.is_empty());
    }
    assert_eq!(plan.affected.len(), affected);
    assert!(plan.whole);
}

proptest! {
    #![proptest_config(histories(100, 4))]

    #[test]
    fn a_plan_is_what_then_happens(numbers in prop::collection::vec(any::<u64>(), 5..50)) {
        foreseen(&numbers);
    }
}
