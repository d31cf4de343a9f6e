use std::sync::Arc;

use seaway_shipyard as file;

use super::trigger::{Event, On, Selector, Trigger};
use super::types::{Batch, Entry, Policy, Range, Retries, Sequence, Stage, Structure, Task, When};

impl From<&file::Shipyard> for Structure {
    /// The stages of a shipyard are entered by triggers. Its order only matters to readers.
    fn from(shipyard: &file::Shipyard) -> Self {
        let stages = shipyard.stages.iter().map(|it| (it.name.clone(), Arc::new(stage(it))));
        Self { stages: stages.collect() }
    }
}

fn stage(stage: &file::Stage) -> Stage {
    let sequences = stage.sequences.iter();
    let sequences = sequences.map(|it| (it.name.clone(), Arc::new(sequence(it))));
    Stage {
        entry: Entry::Triggered,
        batch: stage.batch.as_ref().map(batch),
        sequences: sequences.collect(),
        ..Stage::default()
    }
}

fn batch(batch: &file::Batch) -> Batch {
    let policy = match batch.policy {
        file::Policy::Queue => Policy::Queue,
        file::Policy::Supersede { max_replaced } => Policy::Supersede { max_replaced },
        file::Policy::Parallel => Policy::Parallel,
    };
    Batch { capacity: batch.capacity, policy }
}

fn sequence(sequence: &file::Sequence) -> Sequence {
    let range = sequence.batch.as_ref().map(|range| Range {
        first: range.first,
        last: range.last,
        batch: batch(&range.batch),
    });
    let mut triggers: Vec<Trigger> = sequence.triggered_on.iter().map(trigger).collect();
    // The same entry twice means the same as once.
    let mut seen = std::collections::BTreeSet::new();
    triggers.retain(|trigger| seen.insert(trigger.clone()));
    let tasks = sequence.tasks.iter().map(task).collect();
    Sequence { tasks, range, triggers, timeout: sequence.timeout }
}

fn trigger(trigger: &file::Trigger) -> Trigger {
    let on = match &trigger.on {
        file::On::Any(name) => On::Event(event(name)),
        file::On::All(names) => On::All(names.iter().map(event).collect()),
    };
    let data = trigger.selector.data.iter();
    let data = data.map(|(path, text)| (path.as_str().into(), text.as_str().into()));
    let results = trigger.selector.results.clone();
    Trigger { on, selector: Selector { results, data: data.collect() } }
}

fn event(event: &file::Event) -> Event {
    match event {
        file::Event::Finished { stage, sequence } => {
            Event::Finished { stage: stage.clone(), sequence: sequence.clone() }
        }
        file::Event::Domain(name) => Event::Domain(name.as_str().into()),
    }
}

fn task(task: &file::Task) -> Task {
    let properties = (!task.properties.is_empty())
        .then(|| serde_json::Value::Object(task.properties.clone()).to_string().into_boxed_str());
    Task {
        id: task.id.clone(),
        when: match task.when {
            file::When::Succeeded => When::Succeeded,
            file::When::Failed => When::Failed,
            file::When::Always => When::Always,
        },
        properties,
        delay: task.triggered_after,
        timeout: task.timeout,
        retries: Retries { limit: task.retries.limit, backoff: task.retries.backoff },
        ..Task::new(task.name.clone())
    }
}
