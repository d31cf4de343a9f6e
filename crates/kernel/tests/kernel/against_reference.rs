//! The kernel does what the naive reference says, whatever happens in whatever order.

use proptest::prelude::*;
use seaway_kernel::{
    Batch, Command, Edit, Entry, Kernel, Policy, Range, Report, Sequence, Step, Task, When,
};
use seaway_model::{DeploymentId, Fence, Kind, Name, Outcome, Span};

use crate::harness::{Harness, histories, name, over, task};

/// Small numbers drawn from one large one.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        let sides = sides as u64;
        let value = self.0 % sides;
        self.0 = (self.0 / sides) ^ self.0.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        value as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() { None } else { Some(&from[self.roll(from.len())]) }
    }

    pub(crate) fn chance(&mut self, in_ten: usize) -> bool {
        self.roll(10) < in_ten
    }
}

const STAGES: [&str; 5] = ["build", "beta", "gamma", "prod", "zeta"];
const SEQUENCES: [&str; 2] = ["delivery", "checks"];
const MEMBERS: [&str; 4] = ["m1", "m2", "m3", "m4"];

fn random_batch(dice: &mut Dice) -> Batch {
    let policy = match dice.roll(4) {
        0 => Policy::Parallel,
        1 | 2 => Policy::Queue,
        _ => Policy::Supersede { max_replaced: 1 + dice.roll(2) as u32 },
    };
    Batch { capacity: 1 + u32::from(dice.chance(1)), policy }
}

fn random_sequence(dice: &mut Dice) -> Sequence {
    let all = ["deploy", "test", "smoke", "notify", "undo"];
    let mut tasks: Vec<Task> = Vec::new();
    for _ in 0..1 + dice.roll(4) {
        let mut next = match dice.roll(5) {
            0 => over("deploy", &["g"]),
            1 => over("deploy", &["g", "h"]),
            _ => task(all[dice.roll(all.len())]),
        };
        next.when = match dice.roll(6) {
            0 => When::Failed,
            1 => When::Always,
            _ => When::Succeeded,
        };
        tasks.push(next);
    }
    let range = dice.chance(3).then(|| {
        let first = dice.roll(tasks.len());
        let last = first + dice.roll(tasks.len() - first);
        Range { first: first as u32, last: last as u32, batch: random_batch(dice) }
    });
    Sequence { tasks, range, ..Sequence::default() }
}

fn random_chain(dice: &mut Dice) -> Vec<Kind> {
    if dice.chance(1) {
        return vec![Kind::ArtifactRegistered];
    }
    let inner = [Kind::ArtifactReplicated, Kind::MemberDeployed, Kind::MemberTested];
    let mut chain = vec![Kind::MemberStarted];
    chain.extend(inner.into_iter().filter(|_| dice.chance(6)));
    chain.push(Kind::MemberFinished);
    chain
}

/// Everything that a new stage has from the start, so that sequences may use its groups.
fn new_stage(dice: &mut Dice, harness: &Harness, stage: &str) -> Vec<Edit> {
    let present: Vec<Name> = harness.kernel.structure().stages.keys().cloned().collect();
    let after = present.into_iter().filter(|it| it.as_str() != stage && dice.chance(4)).collect();
    let batch = dice.chance(4).then(|| random_batch(dice));
    let stage = name(stage);
    let mut edits =
        vec![Edit::PutStage { stage: stage.clone(), entry: Entry::Ordered, after, batch }];
    for group in ["g", "h"] {
        let chain = random_chain(dice);
        edits.push(Edit::PutGroup { stage: stage.clone(), group: name(group), chain });
        let members = MEMBERS.iter().filter(|_| dice.chance(4)).map(|it| name(it)).collect();
        edits.push(Edit::AddMembers { stage: stage.clone(), group: name(group), members });
    }
    for sequence in SEQUENCES {
        if sequence == "delivery" || dice.chance(2) {
            let definition = random_sequence(dice);
            let sequence = name(sequence);
            edits.push(Edit::PutSequence { stage: stage.clone(), sequence, definition });
        }
    }
    edits
}

fn random_edits(dice: &mut Dice, harness: &Harness) -> Vec<Edit> {
    let stage = STAGES[dice.roll(STAGES.len())];
    let known = harness.kernel.structure().stages.contains_key(stage);
    if !known {
        return new_stage(dice, harness, stage);
    }
    let (at, group) = (name(stage), name(["g", "h"][dice.roll(2)]));
    let members = vec![name(MEMBERS[dice.roll(MEMBERS.len())])];
    let sequence = name(SEQUENCES[dice.roll(2)]);
    match dice.roll(12) {
        0..=2 => vec![Edit::AddMembers { stage: at, group, members }],
        3 | 4 => vec![Edit::RemoveMembers { stage: at, group, members }],
        5 | 6 => vec![Edit::PutGroup { stage: at, group, chain: random_chain(dice) }],
        7 | 8 => {
            let definition = random_sequence(dice);
            vec![Edit::PutSequence { stage: at, sequence, definition }]
        }
        9 => vec![Edit::RemoveSequence { stage: at, sequence }],
        10 => vec![Edit::RemoveStage { stage: at }],
        _ => {
            let others = STAGES.iter().filter(|it| **it != stage);
            let after = others.filter(|_| dice.chance(4)).map(|it| name(it)).collect();
            let batch = dice.chance(5).then(|| random_batch(dice));
            vec![Edit::PutStage { stage: at, entry: Entry::Ordered, after, batch }]
        }
    }
}

fn steps_where(harness: &Harness, wanted: impl Fn(&seaway_kernel::Waiting) -> bool) -> Vec<Step> {
    let ids: Vec<DeploymentId> = harness.kernel.deployments().map(|(id, _)| id).collect();
    let waiting = ids.into_iter().flat_map(|id| harness.kernel.waiting(id, usize::MAX));
    waiting.filter(|it| wanted(&it.why)).map(|it| it.step).collect()
}

fn answer(dice: &mut Dice, harness: &mut Harness) {
    use seaway_kernel::Waiting;
    let flying = |why: &Waiting| matches!(why, Waiting::Unclaimed | Waiting::Working { .. });
    let steps = steps_where(harness, flying);
    let Some(&step) = dice.pick(&steps) else { return };
    if dice.chance(2) {
        let _ = harness.claim(step, ["x", "y"][dice.roll(2)]);
        return;
    }
    let claims = harness.log.iter().rev().find(|record| {
        let counts =
            matches!(record.fact, seaway_model::Fact::Claimed | seaway_model::Fact::Dispatched);
        record.step() == Some(step) && counts
    });
    let Some(claim) = claims else { return };
    let mut fence = Fence { attempt: claim.attempt, lease: claim.n };
    if dice.chance(1) {
        fence.lease += 1;
    }
    let outcome = match dice.roll(8) {
        0 => Outcome::Fail,
        1 => Outcome::Warning,
        _ => Outcome::Pass,
    };
    let report = if dice.chance(1) { Report::Changed } else { Report::Ended(outcome) };
    let _ = harness.command(&Command::Report { step, fence, report, answer: None });
}

pub(crate) fn person(dice: &mut Dice, harness: &mut Harness) {
    let all: Vec<DeploymentId> = {
        let mut ids: Vec<_> = harness.log.iter().filter_map(|record| record.deployment).collect();
        ids.sort();
        ids.dedup();
        ids
    };
    let Some(&deployment) = dice.pick(&all) else { return };
    let records: Vec<Step> = harness
        .log
        .iter()
        .filter(|record| record.deployment == Some(deployment))
        .filter(|record| {
            matches!(record.fact, seaway_model::Fact::Failed | seaway_model::Fact::Dispatched)
        })
        .filter_map(|record| record.step())
        .collect();
    let step = dice.pick(&records).copied();
    let command = match (dice.roll(8), step) {
        (0, _) => Command::Pause { deployment },
        (1, _) => Command::Resume { deployment },
        (2, _) if dice.chance(3) => Command::Abort { deployment },
        (3..=5, Some(step)) => Command::Retry { step, data: None },
        (6, Some(step)) => Command::Skip { step, reason: "known to be fine".into() },
        _ => Command::Resume { deployment },
    };
    let _ = harness.command(&command);
}

fn one_move(dice: &mut Dice, harness: &mut Harness) {
    match dice.roll(16) {
        0 => {
            let edits = random_edits(dice, harness);
            let _ = harness.change(edits);
        }
        1 | 2 => {
            let version = format!("v{}", dice.roll(6));
            if !harness.kernel.structure().stages.is_empty() {
                harness.start(["cart", "web"][dice.roll(2)], &version);
            }
        }
        3 | 4 => person(dice, harness),
        5 => harness.now = harness.now + Span::from_secs(3 + dice.roll(9) as i64),
        6 if dice.chance(2) => harness.restart(),
        7 => harness.kernel.sweep(),
        _ => answer(dice, harness),
    }
    harness.settle();
}

fn play(numbers: &[u64]) -> Harness {
    let mut harness = Harness::new();
    let mut dice = Dice(numbers[0]);
    for stage in &STAGES[..2 + dice.roll(2)] {
        let edits = new_stage(&mut dice, &harness, stage);
        harness.change(edits).expect("new stages can be added");
    }
    for &number in numbers {
        one_move(&mut Dice(number), &mut harness);
    }
    harness
}

proptest! {
    #![proptest_config(histories(60, 2))]

    #[test]
    fn kernel_and_reference_agree(numbers in prop::collection::vec(any::<u64>(), 1..70)) {
        let mut harness = play(&numbers);
        harness.check_replay();
        harness.drain();
        harness.check_replay();
    }
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let harness = play(&[7, 11, 13, 17, 19, 23]);
    let bytes = harness.kernel.checkpoint().1;
    assert!(Kernel::restore(&name("shop"), &bytes[..bytes.len() / 2]).is_err());
    assert!(Kernel::restore(&name("shop"), &[0xff; 64]).is_err());
}
