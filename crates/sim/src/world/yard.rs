use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seaway_kernel::{
    Entry, Event, On, Range, Retries, Selector, Sequence, Stage, Structure, Task, Trigger, When,
};
use seaway_model::{Name, Outcome, Span};

use super::dice::Dice;
use super::shape::{batch, name};

pub(super) const STAGES: [&str; 4] = ["dev", "qa", "prod", "lab"];
pub(super) const SEQUENCES: [&str; 4] = ["delivery", "rollback", "remedy", "audit"];
pub(super) const TASKS: [&str; 5] = ["deployment", "test", "evaluation", "approval", "release"];
/// What happens outside, as whoever sends it says.
pub(super) const EVENTS: [&str; 3] = ["problem.open", "build.finished", "night"];
/// What entries are triggered on: with the name of a stage before it, or without.
const HEARD: [&str; 4] = ["problem.open", "build.finished", "night", "qa.problem.open"];

/// A sequence of a stage.
pub(super) type Named = (Name, Name);

/// A whole file: stages that are entered by triggers.
///
/// What passes only leads forward, so that every story ends when nothing fails any more; one file
/// in a while has a sequence that starts itself again, up to the limit.
pub(super) fn structure(dice: &mut Dice) -> Structure {
    let known = names(dice);
    let mut stages: BTreeMap<Name, Stage> = BTreeMap::new();
    for (at, (stage, sequence)) in known.iter().enumerate() {
        let definition = definition(dice, &known, at);
        let entry = stages.entry(stage.clone()).or_insert_with(|| Stage {
            entry: Entry::Triggered,
            batch: batch(dice, 40),
            ..Stage::default()
        });
        entry.sequences.insert(sequence.clone(), Arc::new(definition));
    }
    Structure { stages: stages.into_iter().map(|(name, stage)| (name, Arc::new(stage))).collect() }
}

fn names(dice: &mut Dice) -> Vec<Named> {
    let count = dice.count(2, STAGES.len());
    let mut known = Vec::new();
    for stage in &STAGES[..count] {
        for sequence in SEQUENCES {
            if sequence == "delivery" || dice.chance(30) {
                known.push((name(stage), name(sequence)));
            }
        }
    }
    known
}

fn definition(dice: &mut Dice, known: &[Named], at: usize) -> Sequence {
    let count = dice.count(1, 3);
    let tasks: Vec<Task> = (0..count).map(|number| task(dice, number)).collect();
    let timeout = dice.chance(6).then(|| Span(dice.millis(6_000, 40_000)));
    let triggers = triggers(dice, known, at);
    Sequence { range: range(dice, tasks.len()), tasks, triggers, timeout }
}

fn range(dice: &mut Dice, tasks: usize) -> Option<Range> {
    dice.chance(20).then(|| {
        let first = dice.below(tasks);
        let last = dice.count(first, tasks - 1);
        let batch = batch(dice, 100).expect("it was asked for one");
        Range { first: first as u32, last: last as u32, batch }
    })
}

fn task(dice: &mut Dice, number: usize) -> Task {
    let when = match number {
        0 => When::Succeeded,
        _ => dice.weighted(&[(75, When::Succeeded), (10, When::Failed), (15, When::Always)]),
    };
    let limit = if dice.chance(25) { dice.count(1, 2) as u32 } else { 0 };
    let kind = TASKS[dice.below(TASKS.len())];
    let strategy = r#"{"strategy": "blue_green", "hosts": ["a", "b"]}"#;
    let properties: Option<&str> = match kind {
        "approval" => dice.weighted(&[
            (70, None),
            (20, Some(r#"{"executor": "builtin"}"#)),
            (10, Some(r#"{"executor": "external"}"#)),
        ]),
        _ => dice.chance(20).then_some(strategy),
    };
    Task {
        when,
        properties: properties.map(Into::into),
        delay: dice.chance(12).then(|| Span(dice.millis(200, 6_000))),
        timeout: dice.chance(20).then(|| Span(dice.millis(2_000, 12_000))),
        retries: Retries { limit, backoff: Span(dice.millis(0, 3_000)) },
        ..Task::new(name(kind))
    }
}

/// What starts a sequence: mostly the delivery of the stage before it, or a failure beside it.
fn triggers(dice: &mut Dice, known: &[Named], at: usize) -> Vec<Trigger> {
    let mut triggers = BTreeSet::new();
    let delivers = known[at].1.as_str() == "delivery";
    let before = known[..at].iter().rfind(|(_, sequence)| sequence.as_str() == "delivery");
    if let Some(before) = before.filter(|_| delivers && dice.chance(85)) {
        let on = On::Event(finished(before));
        triggers.insert(Trigger { on, selector: selector(dice, false) });
    }
    if known[at].1.as_str() == "rollback" {
        let mut here = known.iter().filter(|(stage, _)| *stage == known[at].0);
        let on = On::Event(finished(here.next().expect("it is in the list itself")));
        triggers.insert(Trigger { on, selector: selector(dice, true) });
    }
    let more = dice.weighted(&[(45, 0), (35, 1), (20, 2)]);
    for _ in 0..more {
        triggers.insert(trigger(dice, known, at));
    }
    triggers.into_iter().collect()
}

fn trigger(dice: &mut Dice, known: &[Named], at: usize) -> Trigger {
    let fails = dice.chance(30);
    let on = if dice.chance(35) {
        let events: BTreeSet<Event> = (0..2).map(|_| event(dice, known, fails, at)).collect();
        On::All(events.into_iter().collect())
    } else {
        On::Event(event(dice, known, fails, at))
    };
    Trigger { on, selector: selector(dice, fails) }
}

fn selector(dice: &mut Dice, fails: bool) -> Selector {
    let results = match fails {
        true => vec![(None, Outcome::Fail)],
        false if dice.chance(10) => vec![(Some(name("test")), Outcome::Pass)],
        false if dice.chance(10) => vec![(None, Outcome::Pass)],
        false => Vec::new(),
    };
    let data = match dice.chance(6) {
        true => vec![("labels.color".into(), "blue".into())],
        false => Vec::new(),
    };
    Selector { results, data }
}

fn event(dice: &mut Dice, known: &[Named], fails: bool, at: usize) -> Event {
    let before = if fails { known } else { &known[..at] };
    match dice.pick(before) {
        Some(named) if dice.chance(75) => finished(named),
        _ => Event::Domain(HEARD[dice.below(HEARD.len())].into()),
    }
}

fn finished((stage, sequence): &Named) -> Event {
    Event::Finished { stage: stage.clone(), sequence: sequence.clone() }
}

/// A sequence that starts itself again whenever it passes: the limit ends it.
pub(super) fn looping(mut structure: Structure) -> Structure {
    let (stage, sequence) = (name(STAGES[0]), name("spin"));
    let on = On::Event(finished(&(stage.clone(), sequence.clone())));
    let triggers = vec![Trigger { on, selector: Selector::default() }];
    let tasks = vec![Task::new(name("test"))];
    let spin = Sequence { tasks, triggers, ..Sequence::default() };
    if let Some(stage) = structure.stages.get_mut(&stage) {
        Arc::make_mut(stage).sequences.insert(sequence, Arc::new(spin));
    }
    structure
}

/// The file after somebody edited it: one sequence in another way, or all of it written anew.
pub(super) fn changed(dice: &mut Dice, old: &Structure) -> Structure {
    if dice.chance(15) {
        return structure(dice);
    }
    let mut new = old.clone();
    let names: Vec<Name> = new.stages.keys().cloned().collect();
    let Some(at) = dice.pick(&names) else { return structure(dice) };
    let stage = Arc::make_mut(new.stages.get_mut(at).expect("it was just listed"));
    if dice.chance(15) {
        stage.batch = batch(dice, 60);
        return new;
    }
    let sequences: Vec<Name> = stage.sequences.keys().cloned().collect();
    if let Some(sequence) = dice.pick(&sequences) {
        let sequence = stage.sequences.get_mut(sequence).expect("it was just listed");
        edit(dice, Arc::make_mut(sequence));
    }
    new
}

fn edit(dice: &mut Dice, sequence: &mut Sequence) {
    match dice.below(5) {
        0 => sequence.triggers.clear(),
        1 => {
            let dropped = dice.below(sequence.triggers.len().max(1));
            let kept = sequence.triggers.iter().enumerate().filter(|(at, _)| *at != dropped);
            sequence.triggers = kept.map(|(_, trigger)| trigger.clone()).collect();
        }
        2 => {
            let heard = Event::Domain(HEARD[dice.below(HEARD.len())].into());
            let trigger = Trigger { on: On::Event(heard), selector: selector(dice, false) };
            if !sequence.triggers.contains(&trigger) {
                sequence.triggers.push(trigger);
            }
        }
        3 if sequence.tasks.len() > 1 => {
            sequence.tasks.remove(dice.below(sequence.tasks.len()));
            sequence.range = range(dice, sequence.tasks.len());
        }
        _ => {
            let at = dice.count(0, sequence.tasks.len());
            sequence.tasks.insert(at, task(dice, at));
            sequence.range = range(dice, sequence.tasks.len());
        }
    }
}
