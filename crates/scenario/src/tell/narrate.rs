use seaway_kernel::{Actor, Detail, Message, Reason, Record, Refusal, Step};
use seaway_model::{ExecutorName, Fact, Kind, Level, Outcome, TargetId};
use serde_json::Value;

use super::line::{Grain, Line, offset};
use super::others::too_many_runs;
use crate::document::{Action, Step as Scripted};
use crate::play::find::Spot;
use crate::play::{Player, START};

impl Player<'_> {
    /// Says what a record means, right after it was folded.
    pub(crate) fn tell(&mut self, record: &Record) {
        let message = self.kernel.message(record);
        let level = self.kernel.targets().get(record.target).level;
        let spot = self.spot(record.deployment, record.target);
        let (depth, text) = match (level, &spot) {
            (Level::Run, Some(spot)) => (0, self.of_run(record, spot)),
            (Level::Task, Some(spot)) => (1, self.of_task(record, spot)),
            (Level::Executor, Some(spot)) => (2, self.of_share(record, spot)),
            (Level::Project, _) => (0, self.of_project(record)),
            _ => (0, None),
        };
        if let Some(text) = text {
            let data = message.filter(says_data).map(|it| it.data);
            self.say(record.deployment, spot.clone(), depth, text, data);
        }
        self.say_record(record, spot);
    }

    pub(super) fn say(
        &mut self,
        deployment: Option<seaway_model::DeploymentId>,
        spot: Option<Spot>,
        depth: usize,
        text: String,
        data: Option<Value>,
    ) {
        let ship = deployment.and_then(|id| self.ship_of(id));
        let name = ship.map(|ship| self.ship_name(ship));
        let run = spot.as_ref().map(Spot::run_text);
        let (at, grain) = (self.now - START, Grain::Message);
        self.story.push(Line { at, deployment: name, ship, spot, run, depth, text, data, grain });
    }

    fn of_project(&self, record: &Record) -> Option<String> {
        let by = &record.by;
        Some(match (record.kind, record.fact, record.detail.as_deref()) {
            (Kind::PipelineStarted, Fact::Finished, Some(Detail::Deploys { service, version })) => {
                let revision = record.revision.unwrap_or_default();
                format!("{service} {version} is deployed as revision {revision}")
            }
            (Kind::PipelineFinished, Fact::Superseded, _) => "over: superseded".to_owned(),
            (Kind::PipelineFinished, Fact::Cancelled, _) => "over: aborted".to_owned(),
            (Kind::PipelineFinished, _, _) => {
                format!("over: {}", record.outcome.map_or("-", Outcome::as_str))
            }
            (Kind::Deployment, fact, _) => format!("{fact} by {by}"),
            (Kind::Event, _, Some(Detail::Happened { name, stage, .. })) => {
                let stage = stage.as_ref().map_or(String::new(), |stage| format!(" in {stage}"));
                format!("{name} happened{stage}")
            }
            (Kind::Executor, Fact::ExecutorLeft, Some(Detail::Leaves { executor })) => match by {
                Actor::Seaway => format!("{executor} is gone: it was silent for too long"),
                Actor::Named(_) => format!("{executor} leaves"),
            },
            (Kind::Executor, _, Some(Detail::Registers { executor, .. })) if self.now > START => {
                format!("{executor} joins")
            }
            _ => return None,
        })
    }

    fn of_run(&self, record: &Record, spot: &Spot) -> Option<String> {
        let run = spot.run_text();
        Some(match (record.kind, record.fact, record.detail.as_deref()) {
            (Kind::SequenceTriggered, _, Some(Detail::Triggered { on, .. })) => match on {
                Some(on) => format!("{run} triggered, on {on}"),
                None => format!("{run} triggered, by {}", record.by),
            },
            (Kind::SequenceTriggered, _, Some(Detail::Refused { on, because })) => {
                format!("{run} is not triggered on {on}: {}", said(because))
            }
            (Kind::SequenceStarted, Fact::Finished, _) => format!("{run} started"),
            (Kind::SequenceFinished, Fact::Finished | Fact::Failed, _) => {
                format!("{run} finished: {}", ended(record))
            }
            (Kind::SequenceFinished, Fact::Superseded, _) => match self.newer(record, spot) {
                Some(by) => format!("{run} superseded by {by}"),
                None => format!("{run} superseded"),
            },
            (Kind::SequenceFinished | Kind::SequenceStarted, fact, _) => {
                format!("{run} {fact}{}", self.because(record, spot))
            }
            _ => return None,
        })
    }

    fn of_task(&self, record: &Record, spot: &Spot) -> Option<String> {
        let task = spot.task_text();
        Some(match (record.fact, record.detail.as_deref()) {
            (Fact::Dispatched, Some(Detail::Offered { to })) => {
                let again = match record.attempt.0 {
                    0 | 1 => String::new(),
                    attempt => format!(", attempt {attempt}"),
                };
                let to: Vec<&str> = to.iter().map(|name| &*name.0).collect();
                let to = if to.is_empty() { "nobody".to_owned() } else { to.join(", ") };
                let which = match spot.occurrence {
                    0 | 1 => String::new(),
                    _ => format!(" ({task})"),
                };
                format!("-> {}.triggered to {to}{which}{again}", spot.task_name())
            }
            (Fact::Finished | Fact::Failed, _) => {
                let why = match (record.reason(), self.asked_for(record)) {
                    (Some(reason), _) => said(reason),
                    (None, (0 | 1, _)) => return None,
                    (None, (_, silent)) => match &silent[..] {
                        [] => "all have answered".to_owned(),
                        [one] => format!("{one} is gone without an answer"),
                        several => format!("{} are gone without an answer", several.join(", ")),
                    },
                };
                format!("{task} finished: {}, {why}", ended(record))
            }
            (Fact::Retried, detail) => {
                let edited = match detail {
                    Some(Detail::Edits(_)) => " with edited data",
                    _ => "",
                };
                match &record.by {
                    // The offer that follows names the attempt.
                    Actor::Seaway => return None,
                    by @ Actor::Named(_) => format!("{task} is tried again by {by}{edited}"),
                }
            }
            (fact, _) => format!("{task} {fact}{}", self.because(record, spot)),
        })
    }

    fn of_share(&self, record: &Record, spot: &Spot) -> Option<String> {
        let (task, executor) = (spot.task_name(), self.executor_of(record.target));
        let again = if record.n > 1 { format!(" (lease {})", record.n) } else { String::new() };
        Some(match record.fact {
            Fact::Started => format!("<- {executor}: {task}.started{again}"),
            Fact::Changed => format!("<- {executor}: {task}.status.changed"),
            Fact::Finished | Fact::Failed => {
                let errored = match record.detail.as_deref() {
                    Some(Detail::Answer(text)) if is_errored(text) => ", errored",
                    _ => "",
                };
                format!("<- {executor}: {task}.finished {}{errored}", ended(record))
            }
            Fact::Cancelled => {
                format!("-> {executor}: stop {task}{}", self.because(record, spot))
            }
            Fact::LeaseExpired => {
                format!("{executor} is silent: its lease of {task} is over")
            }
            _ => return None,
        })
    }

    pub(super) fn executor_of(&self, target: TargetId) -> String {
        let targets = self.kernel.targets();
        targets.part(targets.get(target).part).trim_start_matches('@').to_owned()
    }

    fn ship_name(&self, ship: usize) -> String {
        self.ships()[ship].name.clone()
    }

    /// What a person does that no record shows.
    pub(crate) fn tell_step(&mut self, step: &Scripted) {
        let text = match &step.action {
            Action::Apply { file } => format!("{file} is the shipyard from now on"),
            Action::Dies { executor } if self.is_here(*executor) => {
                format!("{} dies", self.executor_name(*executor))
            }
            _ => return,
        };
        self.say(None, None, 0, text, None);
    }

    /// What becomes of a process that holds a task.
    pub(crate) fn tell_process(&mut self, step: Step, executor: usize, what: &str) {
        let text = format!("a process of {} {what}", self.executor_name(executor));
        let spot = self.spot(Some(step.deployment), step.target);
        self.say(Some(step.deployment), spot, 2, text, None);
    }

    pub(crate) fn tell_unchanged(&mut self, file: &str) {
        self.say(None, None, 0, format!("{file} says the same as before"), None);
    }

    pub(crate) fn tell_refused(&mut self, what: &str, why: &str) {
        self.say(None, None, 0, format!("{what} is refused: {why}"), None);
    }

    pub(crate) fn tell_refused_answer(
        &mut self,
        step: Step,
        executor: &ExecutorName,
        outcome: Outcome,
        refusal: &Refusal,
    ) {
        let Some(spot) = self.spot(Some(step.deployment), step.target) else { return };
        let task = spot.task_name();
        let refusal = self.named(&refusal.to_string());
        let text = format!("<- {executor}: {task}.finished {outcome}, refused: {refusal}");
        self.say(Some(step.deployment), Some(spot), 2, text, None);
    }

    /// A text with the names of deployments instead of their ids.
    pub(crate) fn named(&self, text: &str) -> String {
        let ids = self.ids.iter();
        ids.fold(text.to_owned(), |text, (ship, id)| {
            text.replace(&id.to_string(), &self.ships()[*ship].name)
        })
    }

    /// The rest of a length of time, for a sentence.
    pub(super) fn when(&self, until: seaway_model::Timestamp) -> String {
        offset(until - START)
    }
}

/// Data is worth showing where it is handed over.
fn says_data(message: &Message) -> bool {
    message.name.ends_with(".triggered")
}

fn ended(record: &Record) -> &'static str {
    record.outcome.map_or("-", Outcome::as_str)
}

/// A reason in more words than the log needs.
pub(super) fn said(reason: &Reason) -> String {
    match reason {
        Reason::Condition => "its `when` does not hold".to_owned(),
        Reason::Withdrawn => "the new shipyard does not trigger it".to_owned(),
        Reason::Replaced => "a newer revision took its place in line".to_owned(),
        Reason::Superseded => "a newer revision was there before".to_owned(),
        Reason::NoExecutor => "nobody was there in time who could do it".to_owned(),
        Reason::TooManyRuns => too_many_runs(),
        Reason::Person(why) => why.to_string(),
        other => other.to_string(),
    }
}

fn is_errored(text: &str) -> bool {
    let data: Option<Value> = serde_json::from_str(text).ok();
    data.is_some_and(|data| data["status"] == "errored")
}
