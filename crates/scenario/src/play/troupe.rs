use seaway_kernel::{Command, Refusal, Subscription};
use seaway_model::{ExecutorName, Span};

use super::player::{FOR_EVER, Player, person};
use super::work::Work;
use super::yards::Yards;
use crate::document::{Action, Answer, Answers, Executor, Named, Place, Scenario, TaskAddress};

/// Everybody who performs tasks.
#[derive(Debug)]
pub(super) struct Troupe {
    actors: Vec<Performer>,
}

#[derive(Debug)]
pub(super) struct Performer {
    pub(super) executor: Executor,
    presence: Presence,
    /// How many answers were given, in all and by entry.
    given: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// Not there, or no longer.
    Away,
    /// There, with so many processes that work.
    Here(u32),
}

impl Troupe {
    /// Those of the scenario, and one for every task that nobody else does.
    pub(super) fn of(scenario: &Scenario, yards: &Yards) -> Self {
        let mut executors = scenario.executors.clone();
        for task in yards.tasks() {
            let done = |it: &Executor| it.subscriptions.iter().any(|it| it.task == task);
            let nobody = scenario.nobody.iter().any(|(it, _)| *it == task);
            if nobody || scenario.executors.iter().any(done) {
                continue;
            }
            let (stages, services, expressions) = (Vec::new(), Vec::new(), Vec::new());
            executors.push(Executor {
                name: ExecutorName(format!("auto/{task}").into()),
                subscriptions: vec![Subscription { task, stages, services, expressions }],
                named: vec![Named::default()],
                replicas: 1,
                delay: Span(0),
                takes: Span(0),
                ttl: Span::from_secs(60),
                answers: Answers::InOrder(vec![Answer::pass()]),
                place: Place::default(),
            });
        }
        let performer = |executor: Executor| {
            let entries = match &executor.answers {
                Answers::InOrder(_) => 1,
                Answers::ByTask(entries) => entries.len(),
            };
            Performer { executor, presence: Presence::Away, given: vec![0; entries] }
        };
        Self { actors: executors.into_iter().map(performer).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.actors.len()
    }

    pub(super) fn get(&self, executor: usize) -> &Executor {
        &self.actors[executor].executor
    }

    pub(super) fn find(&self, name: &ExecutorName) -> Option<usize> {
        self.actors.iter().position(|it| it.executor.name == *name)
    }

    /// Whether it is there from the start: unless the first that is said of it is that it joins.
    pub(super) fn starts(&self, executor: usize, scenario: &Scenario) -> bool {
        let first = scenario.steps.iter().find_map(|step| match step.action {
            Action::Joins { executor: it } if it == executor => Some(false),
            Action::Leaves { executor: it } | Action::Dies { executor: it } if it == executor => {
                Some(true)
            }
            _ => None,
        });
        first.unwrap_or(true)
    }

    pub(super) fn works(&self, executor: usize) -> bool {
        matches!(self.actors[executor].presence, Presence::Here(1..))
    }

    /// The next answer to a task, which counts as given.
    pub(super) fn next_answer(
        &mut self,
        executor: usize,
        asked: impl Fn(&TaskAddress) -> bool,
    ) -> Answer {
        let Performer { executor, given, .. } = &mut self.actors[executor];
        let (entry, answers) = match &executor.answers {
            Answers::InOrder(answers) => (0, answers),
            Answers::ByTask(entries) => {
                // The entry that says most about the task.
                let detail = |it: &TaskAddress| {
                    let run = it.run.is_some() || it.occurrence.is_some();
                    (it.ship.is_some(), run, it.sequence.is_some(), it.stage.is_some())
                };
                let fitting = entries.iter().enumerate().filter(|(_, (it, _))| asked(it));
                let best = fitting.max_by_key(|(at, (it, _))| (detail(it), usize::MAX - at));
                let Some((entry, (_, answers))) = best else { return Answer::pass() };
                (entry, answers)
            }
        };
        let answer = answers.get(given[entry]).or(answers.last());
        given[entry] += 1;
        answer.cloned().unwrap_or_else(Answer::pass)
    }
}

impl Player<'_> {
    /// Whether any process of it is there, be it one that does nothing for a while.
    pub(crate) fn is_here(&self, executor: usize) -> bool {
        let stalled = |work: &Work| work.executor == executor && work.is_stalled();
        self.troupe.works(executor) || self.works.iter().any(stalled)
    }

    pub(super) fn joins(&mut self, executor: usize) -> Result<(), Refusal> {
        let Executor { name, subscriptions, ttl, replicas, .. } = self.troupe.get(executor).clone();
        let command = Command::Register { executor: name, subscriptions, ttl };
        self.command(&command, &person())?;
        self.troupe.actors[executor].presence = Presence::Here(replicas);
        self.keep_alive(executor);
        Ok(())
    }

    /// An executor that works says so often enough; then its time never runs out.
    fn keep_alive(&mut self, executor: usize) {
        let name = self.troupe.get(executor).name.clone();
        if self.kernel.heartbeat(&name, FOR_EVER).is_err() {
            let Executor { subscriptions, ttl, .. } = self.troupe.get(executor).clone();
            let command = Command::Register { executor: name.clone(), subscriptions, ttl };
            if self.command(&command, &person()).is_ok() {
                self.kernel.heartbeat(&name, FOR_EVER).expect("it is registered");
            }
        }
    }

    /// It says that it goes, and ends what it took before.
    pub(super) fn leaves(&mut self, executor: usize) -> Result<(), Refusal> {
        let name = self.troupe.get(executor).name.clone();
        self.command(&Command::Leave { executor: name }, &person())?;
        self.troupe.actors[executor].presence = Presence::Away;
        Ok(())
    }

    /// All its processes are gone, without a word.
    pub(super) fn dies(&mut self, executor: usize) {
        self.troupe.actors[executor].presence = Presence::Here(1);
        self.lose_process(executor);
    }

    /// One of its processes does nothing any more.
    pub(super) fn lose_process(&mut self, executor: usize) {
        let Presence::Here(left) = self.troupe.actors[executor].presence else { return };
        let left = left.saturating_sub(1);
        self.troupe.actors[executor].presence = Presence::Here(left);
        if left > 0 {
            return;
        }
        let name = self.troupe.get(executor).name.clone();
        // It may have left already, when there is nothing that could run out.
        let _ = self.kernel.heartbeat(&name, self.now);
        let mine = (0..self.works.len()).filter(|work| self.works[*work].executor == executor);
        mine.collect::<Vec<usize>>().into_iter().for_each(|work| self.lose(work));
    }

    /// A process that did nothing for a while goes on.
    pub(super) fn regain_process(&mut self, executor: usize) {
        let Presence::Here(left) = self.troupe.actors[executor].presence else { return };
        self.troupe.actors[executor].presence = Presence::Here(left + 1);
        self.keep_alive(executor);
    }
}
