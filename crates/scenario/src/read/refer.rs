use std::collections::BTreeSet;

use seaway_model::Name;
use seaway_shipyard::reading::{Checker, Report};
use seaway_shipyard::{Problems, Shipyard};

use super::reader::Reader;
use crate::document::{Action, Answers, Expectation, Place, Ran, Scenario, TaskAddress};
use crate::play::Yards;

/// Compares everything that a scenario names with what its shipyards have.
pub(crate) fn check_references(scenario: &Scenario, yards: &Yards) -> Result<(), Problems> {
    let mut report = Report::new(&scenario.text);
    let mut reader = Reader::new(Checker::strict(&mut report));
    reader.ships = scenario.ships.clone();
    let all = Known::of(yards.all());
    reader.refer_executors(scenario, &all);
    let mut now = Known::of([&yards.first]);
    for step in &scenario.steps {
        match &step.action {
            Action::Apply { file } => match yards.later.get(file) {
                Some(shipyard) => now = Known::of([shipyard]),
                None => {
                    let known: Vec<String> = yards.later.keys().cloned().collect();
                    reader.unknown("shipyard", file, step.place, &known);
                }
            },
            Action::Trigger { stage, sequence, .. } if step.refused.is_none() => {
                reader.refer_sequence((stage, sequence), step.place, &now);
            }
            Action::Happen { stage: Some((stage, place)), .. } if step.refused.is_none() => {
                reader.refer_stage(stage, *place, &now);
            }
            Action::Retry { task, .. } | Action::Skip { task, .. } => reader.refer(task, &all),
            _ => {}
        }
    }
    for expectation in &scenario.expect {
        match expectation {
            Expectation::Ran { what, .. } => reader.refer_ran(what, &all),
            Expectation::Received { task, .. } => reader.refer(task, &all),
            Expectation::Ends { .. } => {}
        }
    }
    if report.has_errors() {
        return Err(Problems::new(&scenario.text, &scenario.file, report.into_problems()));
    }
    Ok(())
}

/// What there is to refer to: stage, sequence, task.
struct Known(BTreeSet<(Name, Name, Name)>);

impl Known {
    fn of<'s>(shipyards: impl IntoIterator<Item = &'s Shipyard>) -> Self {
        let mut known = BTreeSet::new();
        for stage in shipyards.into_iter().flat_map(|shipyard| &shipyard.stages) {
            for sequence in &stage.sequences {
                for task in &sequence.tasks {
                    let names = (stage.name.clone(), sequence.name.clone(), task.name.clone());
                    known.insert(names);
                }
            }
        }
        Self(known)
    }

    fn listed(&self, text: impl Fn(&(Name, Name, Name)) -> String) -> Vec<String> {
        let texts: BTreeSet<String> = self.0.iter().map(text).collect();
        texts.into_iter().collect()
    }
}

impl Reader<'_, '_> {
    fn refer_executors(&mut self, scenario: &Scenario, all: &Known) {
        let tasks = all.listed(|(_, _, task)| task.to_string());
        for executor in &scenario.executors {
            for (subscription, named) in executor.subscriptions.iter().zip(&executor.named) {
                if !tasks.contains(&subscription.task.to_string()) {
                    self.unknown("task", subscription.task.as_str(), named.task, &tasks);
                }
                let stages = subscription.stages.iter().zip(&named.stages);
                stages.for_each(|(stage, place)| self.refer_stage(stage, *place, all));
            }
            if let Answers::ByTask(by_task) = &executor.answers {
                by_task.iter().for_each(|(address, _)| self.refer(address, all));
            }
        }
        for (task, place) in &scenario.nobody {
            if !tasks.contains(&task.to_string()) {
                self.unknown("task", task.as_str(), *place, &tasks);
            }
        }
    }

    fn refer_stage(&mut self, stage: &Name, place: Place, known: &Known) {
        let listed = known.listed(|(stage, _, _)| stage.to_string());
        if !listed.iter().any(|it| it == stage.as_str()) {
            self.unknown("stage", stage.as_str(), place, &listed);
        }
    }

    fn refer_sequence(&mut self, (stage, sequence): (&Name, &Name), place: Place, known: &Known) {
        if !known.0.iter().any(|(s, q, _)| (s, q) == (stage, sequence)) {
            let listed = known.listed(|(stage, sequence, _)| format!("{stage}.{sequence}"));
            self.unknown("sequence", &format!("{stage}.{sequence}"), place, &listed);
        }
    }

    fn refer_ran(&mut self, ran: &Ran, known: &Known) {
        let same = |(stage, sequence, task): &(Name, Name, Name)| {
            let whole = ran.task.as_ref().is_none_or(|it| it == task);
            *stage == ran.stage && *sequence == ran.sequence && whole
        };
        if known.0.iter().any(same) {
            return;
        }
        if ran.task.is_none() {
            return self.refer_sequence((&ran.stage, &ran.sequence), ran.place, known);
        }
        let listed = known.listed(|(stage, sequence, task)| format!("{stage}.{sequence}.{task}"));
        self.unknown("task", &ran.to_string(), ran.place, &listed);
    }

    fn refer(&mut self, address: &TaskAddress, known: &Known) {
        let same = |(stage, sequence, task): &(Name, Name, Name)| {
            address.stage.as_ref().is_none_or(|it| it == stage)
                && address.sequence.as_ref().is_none_or(|it| it == sequence)
                && address.task == *task
        };
        if known.0.iter().any(same) {
            return;
        }
        let listed = match (&address.stage, &address.sequence) {
            (None, _) => known.listed(|(_, _, task)| task.to_string()),
            (_, None) => known.listed(|(stage, _, task)| format!("{stage}.{task}")),
            _ => known.listed(|(stage, sequence, task)| format!("{stage}.{sequence}.{task}")),
        };
        self.unknown("task", &address.to_string(), address.place, &listed);
    }
}
