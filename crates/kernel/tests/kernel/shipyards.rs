//! Random shipyards, and everything that can happen to what is in them: the kernel does what the
//! naive reference says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use seaway_kernel::{
    Batch, Command, Entry, Event, On, Policy, Range, Reply, Report, Retries, Selector, Sequence,
    Stage, Step, Structure, StructureChange, Subscription, Taken, Task, Trigger, Waiting, When,
};
use seaway_model::{DeploymentId, ExecutorName, Fact, Fence, Name, Outcome, Span};

use crate::against_reference::Dice;
use crate::harness::{Harness, histories, name, task};

const STAGES: [&str; 4] = ["dev", "qa", "prod", "lab"];
const SEQUENCES: [&str; 3] = ["delivery", "rollback", "remediation"];
pub(crate) const TASKS: [&str; 5] = ["deployment", "test", "evaluation", "approval", "release"];
const EVENTS: [&str; 3] = ["problem.open", "qa.problem.open", "build.finished"];
pub(crate) const EXECUTORS: [&str; 3] = ["x", "y", "dock/test"];

fn random_batch(dice: &mut Dice) -> Batch {
    let policy = match dice.roll(4) {
        0 => Policy::Parallel,
        1 | 2 => Policy::Queue,
        _ => Policy::Supersede { max_replaced: 1 + dice.roll(2) as u32 },
    };
    Batch { capacity: 1 + u32::from(dice.chance(1)), policy }
}

fn random_tasks(dice: &mut Dice) -> Vec<Task> {
    let count = 1 + dice.roll(4);
    let tasks = (0..count).map(|_| Task {
        when: [When::Succeeded, When::Failed, When::Always, When::Succeeded][dice.roll(4)],
        delay: dice.chance(2).then(|| Span::from_secs(1 + dice.roll(20) as i64)),
        timeout: dice.chance(2).then(|| Span::from_secs(5 + dice.roll(20) as i64)),
        retries: Retries {
            limit: if dice.chance(2) { 1 + dice.roll(2) as u32 } else { 0 },
            backoff: Span::from_secs(dice.roll(5) as i64),
        },
        ..task(TASKS[dice.roll(TASKS.len())])
    });
    tasks.collect()
}

/// What may trigger a sequence. Passing triggers only lead forward, so that every story ends.
fn random_event(dice: &mut Dice, known: &[(Name, Name)], fails: bool, at: usize) -> Event {
    let before = if fails { known } else { &known[..at] };
    match dice.pick(before) {
        Some((stage, sequence)) if dice.chance(8) => {
            Event::Finished { stage: stage.clone(), sequence: sequence.clone() }
        }
        _ => Event::Domain(EVENTS[dice.roll(EVENTS.len())].into()),
    }
}

fn random_triggers(dice: &mut Dice, known: &[(Name, Name)], at: usize) -> Vec<Trigger> {
    let mut triggers = BTreeSet::new();
    for _ in 0..dice.roll(3) {
        let fails = dice.chance(3);
        let results = match fails {
            true => vec![(None, Outcome::Fail)],
            false if dice.chance(2) => vec![(Some(name("test")), Outcome::Pass)],
            false => Vec::new(),
        };
        let on = if dice.chance(3) {
            let events: BTreeSet<Event> =
                (0..2).map(|_| random_event(dice, known, fails, at)).collect();
            On::All(events.into_iter().collect())
        } else {
            On::Event(random_event(dice, known, fails, at))
        };
        triggers.insert(Trigger { on, selector: Selector { results, data: Vec::new() } });
    }
    triggers.into_iter().collect()
}

/// A whole file.
fn random_structure(dice: &mut Dice) -> Structure {
    let mut known: Vec<(Name, Name)> = Vec::new();
    for stage in STAGES {
        if stage != "dev" && dice.chance(4) {
            continue;
        }
        for sequence in SEQUENCES {
            if sequence == "delivery" || dice.chance(5) {
                known.push((name(stage), name(sequence)));
            }
        }
    }
    let mut stages: BTreeMap<Name, Stage> = BTreeMap::new();
    for (at, (stage, sequence)) in known.iter().enumerate() {
        let tasks = random_tasks(dice);
        let range = dice.chance(2).then(|| {
            let first = dice.roll(tasks.len());
            let last = first + dice.roll(tasks.len() - first);
            Range { first: first as u32, last: last as u32, batch: random_batch(dice) }
        });
        let timeout = dice.chance(1).then(|| Span::from_secs(20 + dice.roll(60) as i64));
        let triggers = random_triggers(dice, &known, at);
        let definition = Sequence { tasks, range, triggers, timeout };
        let entry = stages.entry(stage.clone()).or_insert_with(|| Stage {
            entry: Entry::Triggered,
            batch: dice.chance(3).then(|| random_batch(dice)),
            ..Stage::default()
        });
        entry.sequences.insert(sequence.clone(), Arc::new(definition));
    }
    Structure { stages: stages.into_iter().map(|(name, stage)| (name, Arc::new(stage))).collect() }
}

/// The file with one sequence written anew, or another file.
pub(crate) fn changed(dice: &mut Dice, old: &Structure) -> Structure {
    if dice.chance(3) {
        return random_structure(dice);
    }
    let mut new = old.clone();
    let names: Vec<Name> = new.stages.keys().cloned().collect();
    let Some(stage) = dice.pick(&names) else { return random_structure(dice) };
    let stage = Arc::make_mut(new.stages.get_mut(stage).expect("it was just listed"));
    let names: Vec<Name> = stage.sequences.keys().cloned().collect();
    if let Some(sequence) = dice.pick(&names) {
        let sequence = stage.sequences.get_mut(sequence).expect("it was just listed");
        let sequence = Arc::make_mut(sequence);
        match dice.roll(3) {
            0 => sequence.triggers.clear(),
            1 => {
                let at = dice.roll(sequence.tasks.len() + 1);
                sequence.tasks.insert(at, task(TASKS[dice.roll(TASKS.len())]));
                sequence.range = None;
            }
            _ => {
                sequence.tasks = random_tasks(dice);
                sequence.range = None;
            }
        }
    }
    new
}

fn apply(dice: &mut Dice, harness: &mut Harness) {
    let old = harness.kernel.structure().clone();
    let new = if old.stages.is_empty() { random_structure(dice) } else { changed(dice, &old) };
    if let Some(StructureChange(edits)) = StructureChange::between(&old, &new)
        && harness.change(edits).is_ok()
    {
        assert_eq!(*harness.kernel.structure(), new, "the edits lead to the new structure");
    }
}

fn trigger(dice: &mut Dice, harness: &mut Harness) {
    let structure = harness.kernel.structure();
    let all: Vec<(Name, Name)> = structure
        .stages
        .iter()
        .flat_map(|(stage, it)| it.sequences.keys().map(|name| (stage.clone(), name.clone())))
        .collect();
    let Some((stage, sequence)) = dice.pick(&all).cloned() else { return };
    let service = name(["cart", "web"][dice.roll(2)]);
    let version = format!("v{}", dice.roll(6));
    let known: Vec<DeploymentId> = harness.kernel.deployments().map(|(id, _)| id).collect();
    let again = dice.pick(&known).copied().filter(|_| dice.chance(2));
    let deployment = again.unwrap_or_else(|| harness.next_id());
    let version: Box<str> = version.into();
    let command = match dice.chance(2) {
        true => Command::Happen {
            deployment,
            name: ["problem.open", "build.finished"][dice.roll(2)].into(),
            stage: dice.chance(5).then(|| name(STAGES[dice.roll(STAGES.len())])),
            service,
            version,
            known: None,
            data: dice.chance(2).then(|| r#"{"result": "fail"}"#.into()),
        },
        false => Command::Trigger {
            deployment,
            stage,
            sequence,
            service,
            version,
            known: None,
            data: None,
        },
    };
    let _ = harness.command(&command);
}

fn executor(dice: &mut Dice, harness: &mut Harness) {
    let executor = ExecutorName(EXECUTORS[dice.roll(EXECUTORS.len())].into());
    let command = if dice.chance(2) {
        Command::Leave { executor }
    } else {
        let wanted = TASKS.into_iter().filter(|_| dice.chance(7)).collect::<Vec<_>>();
        let subscriptions = wanted.into_iter().map(|task| Subscription {
            task: name(task),
            stages: if dice.chance(1) { vec![name("dev")] } else { Vec::new() },
            services: if dice.chance(1) { vec![name("web")] } else { Vec::new() },
            expressions: Vec::new(),
        });
        let (subscriptions, ttl) = (subscriptions.collect(), Span::from_secs(30));
        Command::Register { executor, subscriptions, ttl }
    };
    let _ = harness.command(&command);
}

fn answer(dice: &mut Dice, harness: &mut Harness) {
    let ids: Vec<DeploymentId> = harness.kernel.deployments().map(|(id, _)| id).collect();
    let waits = ids.into_iter().flat_map(|id| harness.kernel.waiting(id, usize::MAX));
    let offered: Vec<_> = waits
        .filter_map(|wait| match wait.why {
            Waiting::Offered { to, working } => Some((wait.step, to, working)),
            _ => None,
        })
        .collect();
    let Some((step, to, working)) = dice.pick(&offered).cloned() else { return };
    let idle: Vec<ExecutorName> = to;
    if let Some(executor) = dice.pick(&idle).filter(|_| working.is_empty() || dice.chance(5)) {
        let ttl = Span::from_secs(4 + dice.roll(20) as i64);
        let _ = harness.command(&Command::Claim { step, executor: executor.clone(), ttl });
        return;
    }
    let Some((executor, _)) = dice.pick(&working) else { return };
    let path = format!("{}@{executor}", harness.kernel.targets().path(step.target));
    let share = harness.step(step.deployment, &path, step.kind);
    let mut past = harness.log.iter().rev().filter(|record| record.step() == Some(share));
    let claim = past.find(|record| record.fact == Fact::Claimed).expect("it was claimed");
    let mut fence = Fence { attempt: claim.attempt, lease: claim.n };
    if dice.chance(1) {
        fence.lease += 1;
    }
    let outcome = match dice.roll(6) {
        0 | 1 => Outcome::Fail,
        2 => Outcome::Warning,
        _ => Outcome::Pass,
    };
    let report = if dice.chance(1) { Report::Started } else { Report::Ended(outcome) };
    let answer = dice.chance(5).then(|| format!(r#"{{"{executor}": [{}]}}"#, dice.roll(3)).into());
    let _ = harness.command(&Command::Report { step: share, fence, report, answer });
}

/// An executor takes what there is for it, and now and then gives it back at once.
fn take(dice: &mut Dice, harness: &mut Harness) {
    let executor = ExecutorName(EXECUTORS[dice.roll(EXECUTORS.len())].into());
    let (max, ttl) = (1 + dice.roll(3), Span::from_secs(4 + dice.roll(20) as i64));
    let taken = harness.command(&Command::Take { executor, max, ttl });
    let Ok(Reply::Taken { tasks, .. }) = taken else { return };
    for Taken { step, fence, .. } in tasks {
        if dice.chance(3) {
            harness.command(&Command::GiveBack { step, fence }).expect("it was just taken");
        }
    }
}

/// A person answers what waits for one.
fn approve(dice: &mut Dice, harness: &mut Harness) {
    let ids: Vec<DeploymentId> = harness.kernel.deployments().map(|(id, _)| id).collect();
    let waits = ids.into_iter().flat_map(|id| harness.kernel.waiting(id, usize::MAX));
    let open = waits.filter(|wait| matches!(wait.why, Waiting::Approval { .. }));
    let open: Vec<Step> = open.map(|wait| wait.step).collect();
    let Some(&step) = dice.pick(&open) else { return };
    let outcome = [Outcome::Pass, Outcome::Warning, Outcome::Fail][dice.roll(3)];
    let comment = dice.chance(5).then(|| "seen".into());
    let _ = harness.command(&Command::Approve { step, outcome, comment });
}

fn one_move(dice: &mut Dice, harness: &mut Harness) {
    match dice.roll(24) {
        0 => apply(dice, harness),
        1..=3 => trigger(dice, harness),
        4 | 5 => executor(dice, harness),
        6 | 7 => crate::against_reference::person(dice, harness),
        8 => harness.now = harness.now + Span::from_secs(1 + dice.roll(40) as i64),
        9 if dice.chance(2) => harness.restart(),
        10 => harness.kernel.sweep(),
        11 | 12 => take(dice, harness),
        13 | 14 => approve(dice, harness),
        _ => answer(dice, harness),
    }
}

pub(crate) fn play(numbers: &[u64]) -> Harness {
    watched(numbers, |_| ())
}

/// Plays a history, and looks at it after every move: before the scheduler has a turn, and after.
pub(crate) fn watched(numbers: &[u64], mut look: impl FnMut(&Harness)) -> Harness {
    let mut harness = Harness::new();
    let mut dice = Dice(numbers[0]);
    apply(&mut dice, &mut harness);
    for _ in 0..3 {
        executor(&mut dice, &mut harness);
    }
    for &number in numbers {
        one_move(&mut Dice(number), &mut harness);
        look(&harness);
        harness.settle();
        look(&harness);
    }
    harness
}

proptest! {
    #![proptest_config(histories(60, 3))]

    #[test]
    fn shipyards_do_what_the_reference_says(numbers in prop::collection::vec(any::<u64>(), 1..70)) {
        let mut harness = play(&numbers);
        harness.check_replay();
        harness.drain();
        harness.check_replay();
    }
}
