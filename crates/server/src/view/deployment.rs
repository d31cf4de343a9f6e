use std::collections::BTreeSet;

use seaway_api::{Deployment, DeploymentState, DeploymentView, Run, StepState, StepView};
use seaway_kernel::{Actor, Detail};
use seaway_model::{Fact, Kind, Outcome, Seq};
use seaway_store::Listed;
use seaway_wire::{DeploymentStart, Row};

use super::path::Path;
use crate::clock;

/// More runs than a deployment can have in most shipyards; what comes beyond is not shown.
const MAX_RUNS: usize = 1_000;
const MAX_TASKS: usize = 1_000;

/// Longer messages are cut; the records have all of it.
const LONGEST_MESSAGE: usize = 1_000;

/// A deployment as its records tell it, one after the other.
#[derive(Debug)]
pub(crate) struct Story {
    view: DeploymentView,
    runs: Vec<RunStory>,
}

#[derive(Debug)]
struct RunStory {
    run: Run,
    tasks: Vec<TaskStory>,
}

#[derive(Debug)]
struct TaskStory {
    step: StepView,
    /// Who holds it now.
    held: BTreeSet<String>,
}

impl Story {
    pub(crate) fn new(start: &DeploymentStart) -> Self {
        let view = DeploymentView {
            deployment: deployment(start, DeploymentState::InProgress),
            started: String::new(),
            ended: None,
            result: None,
            runs: Vec::new(),
            at: start.seq.0,
        };
        Self { view, runs: Vec::new() }
    }

    pub(crate) fn add(&mut self, Listed { row, path }: &Listed) {
        self.view.at = row.seq.0;
        let parts = Path::of(path);
        match (parts.stage, parts.run, parts.task) {
            (None, ..) => self.whole(row),
            (Some(stage), None, _) => self.stage(stage, row),
            (Some(_), Some(_), None) => self.run(path, &parts, row),
            (Some(_), Some(_), Some(_)) if !parts.deeper && row.kind == Kind::TaskDone => {
                self.task(path, &parts, row);
            }
            _ => {}
        }
    }

    /// As of a position that nothing was left out before.
    pub(crate) fn end(mut self, at: Seq) -> DeploymentView {
        self.view.at = self.view.at.max(at.0);
        self.view.runs = self.runs.into_iter().map(RunStory::end).collect();
        self.view
    }

    fn whole(&mut self, row: &Row) {
        let view = &mut self.view;
        let state = match (row.kind, row.fact) {
            (Kind::PipelineStarted, _) => {
                view.started = clock::show(row.at);
                return;
            }
            (Kind::Deployment, Fact::Paused) => DeploymentState::Paused,
            (Kind::Deployment, Fact::Resumed) => DeploymentState::InProgress,
            (Kind::PipelineFinished, fact) => {
                view.ended = Some(clock::show(row.at));
                view.result = row.outcome.map(|outcome| outcome.to_string());
                ended(fact)
            }
            _ => return,
        };
        view.deployment.state = state;
    }

    /// Something began again: what had ended around it goes on.
    fn reopen(&mut self) {
        let over = self.view.ended.take().is_some();
        if over {
            self.view.result = None;
            self.view.deployment.state = DeploymentState::InProgress;
        }
    }

    fn stage(&mut self, stage: &str, row: &Row) {
        if (row.kind, row.fact) != (Kind::StageStarted, Fact::Retried) {
            return;
        }
        self.reopen();
        for it in self.runs.iter_mut().filter(|it| it.run.stage == stage) {
            if matches!(it.run.state, StepState::Waiting | StepState::Running) {
                it.restart();
            }
        }
    }

    fn run(&mut self, path: &str, parts: &Path<'_>, row: &Row) {
        let begins = (row.kind, row.fact) == (Kind::SequenceTriggered, Fact::Finished);
        if begins || row.fact == Fact::Retried {
            self.reopen();
        }
        let Some(it) = self.find(path, parts) else { return };
        match (row.kind, row.fact) {
            (Kind::SequenceTriggered, Fact::Skipped) => it.run.state = StepState::Skipped,
            (Kind::SequenceTriggered | Kind::SequenceStarted, Fact::Retried) => it.restart(),
            (Kind::SequenceStarted, Fact::Finished) => it.run.state = StepState::Running,
            (Kind::SequenceFinished, fact) => {
                it.run.state = step_state(fact, row.outcome).unwrap_or(it.run.state);
            }
            _ => {}
        }
    }

    fn find(&mut self, path: &str, parts: &Path<'_>) -> Option<&mut RunStory> {
        let known = self.runs.iter().position(|it| it.run.target == path);
        if let Some(position) = known {
            return self.runs.get_mut(position);
        }
        if self.runs.len() >= MAX_RUNS {
            return None;
        }
        let (sequence, number) = parts.sequence()?;
        let run = Run {
            target: path.to_owned(),
            stage: parts.stage?.to_owned(),
            sequence: sequence.to_owned(),
            number,
            state: StepState::Waiting,
            tasks: Vec::new(),
        };
        self.runs.push(RunStory { run, tasks: Vec::new() });
        self.runs.last_mut()
    }

    fn task(&mut self, path: &str, parts: &Path<'_>, row: &Row) {
        let own = path.split_once('@').map_or(path, |(own, _)| own);
        let Some((run, _)) = own.rsplit_once('/') else { return };
        // What a person skips counts as done: what had failed around it goes on.
        let skipped = row.fact == Fact::Skipped && &*row.by != Actor::Seaway.as_str();
        let again = skipped || row.fact == Fact::Retried;
        if again {
            self.reopen();
        }
        let Some(it) = self.find(run, parts) else { return };
        if again {
            it.reopen_after(own);
        }
        let Some(task) = it.find(own, parts) else { return };
        match parts.executor {
            Some(executor) => task.share(executor, row),
            None => task.own(row),
        }
    }
}

impl RunStory {
    fn restart(&mut self) {
        self.tasks.clear();
        self.run.state = StepState::Waiting;
    }

    /// What came after a task is to be done again.
    fn reopen_after(&mut self, task: &str) {
        let known = self.tasks.iter().position(|it| it.step.target == task);
        self.tasks.truncate(known.map_or(self.tasks.len(), |position| position + 1));
        self.run.state = StepState::Running;
    }

    fn find(&mut self, target: &str, parts: &Path<'_>) -> Option<&mut TaskStory> {
        let known = self.tasks.iter().position(|it| it.step.target == target);
        if let Some(position) = known {
            return self.tasks.get_mut(position);
        }
        if self.tasks.len() >= MAX_TASKS {
            return None;
        }
        let step = StepView {
            target: target.to_owned(),
            name: parts.task_name()?.to_owned(),
            state: StepState::Waiting,
            attempt: 1,
            started: None,
            ended: None,
            executors: Vec::new(),
            message: None,
        };
        self.tasks.push(TaskStory { step, held: BTreeSet::new() });
        self.tasks.last_mut()
    }

    fn end(self) -> Run {
        let tasks = self.tasks.into_iter().map(|it| it.step).collect();
        Run { tasks, ..self.run }
    }
}

impl TaskStory {
    fn own(&mut self, row: &Row) {
        let step = &mut self.step;
        step.attempt = step.attempt.max(row.attempt.0);
        match row.fact {
            Fact::Dispatched | Fact::Retried => {
                self.held.clear();
                step.state = StepState::Waiting;
                (step.started, step.ended, step.message) = (None, None, None);
                step.executors.clear();
            }
            Fact::Claimed | Fact::Started => {
                step.state = StepState::Running;
                step.started.get_or_insert_with(|| clock::show(row.at));
                if row.fact == Fact::Claimed {
                    self.note_executor(&row.by);
                }
            }
            Fact::LeaseExpired => step.state = StepState::Waiting,
            fact => {
                let Some(state) = step_state(fact, row.outcome) else { return };
                step.state = state;
                step.ended = Some(clock::show(row.at));
                if let Some(said) = message(row) {
                    step.message = Some(said);
                }
            }
        }
    }

    /// What one executor says about its share.
    fn share(&mut self, executor: &str, row: &Row) {
        match row.fact {
            Fact::Claimed => {
                self.held.insert(executor.to_owned());
                self.note_executor(executor);
                self.step.state = StepState::Running;
                self.step.started.get_or_insert_with(|| clock::show(row.at));
            }
            Fact::Started => self.step.state = StepState::Running,
            Fact::Finished | Fact::Failed => {
                self.held.remove(executor);
                let said = message(row);
                // What went wrong is worth more than what went well.
                if said.is_some() && (row.fact == Fact::Failed || self.step.message.is_none()) {
                    self.step.message = said;
                }
            }
            Fact::LeaseExpired | Fact::Cancelled => {
                self.held.remove(executor);
                if self.held.is_empty() && self.step.state == StepState::Running {
                    self.step.state = StepState::Waiting;
                }
            }
            _ => {}
        }
    }

    fn note_executor(&mut self, name: &str) {
        if !self.step.executors.iter().any(|known| known == name) {
            self.step.executors.push(name.to_owned());
        }
    }
}

pub(crate) fn deployment(start: &DeploymentStart, state: DeploymentState) -> Deployment {
    Deployment {
        id: start.deployment.0,
        service: start.service.to_string(),
        version: start.version.to_string(),
        revision: start.revision.0,
        since: start.seq.0,
        state,
    }
}

/// What a deployment is after the last record of its pipeline.
pub(crate) fn ended(fact: Fact) -> DeploymentState {
    match fact {
        Fact::Failed => DeploymentState::Failed,
        Fact::Cancelled => DeploymentState::Aborted,
        Fact::Superseded => DeploymentState::Superseded,
        _ => DeploymentState::Finished,
    }
}

fn step_state(fact: Fact, outcome: Option<Outcome>) -> Option<StepState> {
    Some(match fact {
        Fact::Finished if outcome == Some(Outcome::Warning) => StepState::Warned,
        Fact::Finished => StepState::Passed,
        Fact::Failed => StepState::Failed,
        Fact::Skipped => StepState::Skipped,
        Fact::Cancelled => StepState::Cancelled,
        Fact::Superseded => StepState::Superseded,
        _ => return None,
    })
}

/// Why something was not done, or what an executor said about it.
fn message(row: &Row) -> Option<String> {
    row.data.as_ref()?;
    let text = match row.open().ok()?.detail.as_deref()? {
        Detail::Because(reason) => reason.to_string(),
        Detail::Answer(answer) => {
            let answer: serde_json::Value = serde_json::from_str(answer).ok()?;
            answer.get("message")?.as_str()?.to_owned()
        }
        _ => return None,
    };
    let cut: String = text.chars().take(LONGEST_MESSAGE).collect();
    (!cut.trim().is_empty()).then_some(cut)
}

#[cfg(test)]
mod tests {
    use seaway_kernel::Reason;
    use seaway_model::{Attempt, DeploymentId, Name, Revision};
    use uuid::Uuid;

    use super::*;
    use crate::view::listed::Log;

    const RUN: &str = "shop/beta/delivery#1";
    const TEST: &str = "shop/beta/delivery#1/test";

    fn story(log: &Log) -> DeploymentView {
        let start = DeploymentStart {
            deployment: DeploymentId(Uuid::from_u128(7)),
            service: Name::new("cart").unwrap(),
            version: "1.2".into(),
            revision: Revision(3),
            seq: Seq(1),
        };
        let mut story = Story::new(&start);
        log.records.iter().for_each(|record| story.add(record));
        story.end(Seq(0))
    }

    /// A run whose only task was done by two executors, one of which failed.
    fn failing() -> Log {
        let mut log = Log::default();
        let share = |name: &str| format!("{TEST}@{name}");
        let answer = |text: &str| Detail::Answer(text.into());
        log.add("shop", Kind::PipelineStarted, Fact::Finished);
        log.add(RUN, Kind::SequenceTriggered, Fact::Finished);
        log.add("shop/beta", Kind::StageStarted, Fact::Finished);
        log.add(RUN, Kind::SequenceStarted, Fact::Finished);
        log.add(TEST, Kind::TaskDone, Fact::Dispatched);
        log.add(&share("jmeter"), Kind::TaskDone, Fact::Claimed);
        log.add(&share("a/b"), Kind::TaskDone, Fact::Claimed);
        log.add(&share("jmeter"), Kind::TaskDone, Fact::Started);
        let said = answer(r#"{"message": "too slow"}"#);
        log.say(&share("jmeter"), Kind::TaskDone, Fact::Failed, said);
        let said = answer(r#"{"message": "fine"}"#);
        log.say(&share("a/b"), Kind::TaskDone, Fact::Finished, said);
        log.add(TEST, Kind::TaskDone, Fact::Failed);
        log.add(RUN, Kind::SequenceFinished, Fact::Failed);
        log.add("shop/beta", Kind::StageFinished, Fact::Failed);
        log.add("shop", Kind::PipelineFinished, Fact::Failed);
        log
    }

    #[test]
    fn a_deployment_is_told_with_who_did_what_and_why_it_failed() {
        let view = story(&failing());
        assert_eq!(view.deployment.state, DeploymentState::Failed);
        assert_eq!((view.result.as_deref(), view.at), (Some("fail"), 14));
        assert_eq!(view.started, "1970-01-01T00:00:01.000000Z");
        assert_eq!(view.ended.as_deref(), Some("1970-01-01T00:00:14.000000Z"));
        let [run] = &*view.runs else { panic!("{view:?}") };
        assert_eq!((&*run.sequence, run.number, run.state), ("delivery", 1, StepState::Failed));
        let [test] = &*run.tasks else { panic!("{run:?}") };
        assert_eq!((&*test.target, &*test.name), (TEST, "test"));
        assert_eq!((test.state, test.attempt), (StepState::Failed, 1));
        assert_eq!(test.executors, ["jmeter", "a/b"]);
        assert_eq!(test.message.as_deref(), Some("too slow"));
        assert_eq!(test.started.as_deref(), Some("1970-01-01T00:00:06.000000Z"));
    }

    #[test]
    fn what_is_retried_is_under_way_again_and_what_came_after_it_is_gone() {
        let mut log = failing();
        log.add(&format!("{RUN}/release"), Kind::TaskDone, Fact::Dispatched);
        log.put(TEST, Kind::TaskDone, Fact::Retried, |record| record.attempt = Attempt(2));
        let view = story(&log);
        assert_eq!(view.deployment.state, DeploymentState::InProgress);
        assert_eq!((view.ended, view.result), (None, None));
        let [run] = &*view.runs else { panic!("{:?}", view.runs) };
        assert_eq!(run.state, StepState::Running);
        let [test] = &*run.tasks else { panic!("{run:?}") };
        assert_eq!((test.state, test.attempt), (StepState::Waiting, 2));
        assert_eq!((test.executors.len(), test.message.clone()), (0, None));
    }

    #[test]
    fn a_lost_lease_waits_again_and_a_skip_says_why() {
        let mut log = failing();
        log.records.truncate(6);
        let share = format!("{TEST}@jmeter");
        assert_eq!(story(&log).runs[0].tasks[0].state, StepState::Running);
        log.add(&share, Kind::TaskDone, Fact::LeaseExpired);
        assert_eq!(story(&log).runs[0].tasks[0].state, StepState::Waiting);
        log.add("shop", Kind::Deployment, Fact::Paused);
        assert_eq!(story(&log).deployment.state, DeploymentState::Paused);
        let because = Detail::Because(Reason::Person("known flake".into()));
        log.say(TEST, Kind::TaskDone, Fact::Skipped, because);
        let view = story(&log);
        assert_eq!(view.runs[0].tasks[0].state, StepState::Skipped);
        assert_eq!(view.runs[0].tasks[0].message.as_deref(), Some("person: known flake"));
    }

    #[test]
    fn a_sequence_that_is_triggered_after_the_end_opens_the_deployment_again() {
        let mut log = failing();
        log.add("shop/beta/rollback#1", Kind::SequenceTriggered, Fact::Finished);
        let view = story(&log);
        assert_eq!(view.deployment.state, DeploymentState::InProgress);
        assert_eq!(view.runs.len(), 2);
        assert_eq!(view.runs[1].state, StepState::Waiting);
    }
}
