use seaway_engine::RequestError;
use seaway_kernel::{Command, Refusal, Reply, Report, Step, Waiting, WaitingStep};
use seaway_model::{ExecutorName, Fence, Outcome, Span};

use super::event::{Act, Errand, Event, Job};
use super::life::{Flavour, World};
use super::tally::Rare;

/// How an executor deals with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Prompt,
    /// Claims and never answers.
    Dies,
    /// Answers when its lease has run out long ago.
    Late,
    /// Takes long, and says so.
    Slow,
    Duplicates,
    Reorders,
}

const SENDS: u32 = 4;

impl World {
    /// A task is offered to the executors.
    pub(super) fn offered(&mut self, step: Step) {
        if self.healing.is_none() && self.dice.chance(6) {
            return self.fault(|| format!("an offer is lost: {step:?}"));
        }
        self.hand_out(step);
        if self.healing.is_none() && self.dice.chance(6) {
            self.fault(|| format!("an offer comes twice: {step:?}"));
            self.hand_out(step);
        }
    }

    fn hand_out(&mut self, step: Step) {
        match self.flavour {
            Flavour::Plain => self.claim(step),
            Flavour::Shipyard => self.offered_to_crew(step),
        }
    }

    pub(super) fn claim(&mut self, step: Step) {
        let executor = ExecutorName(format!("agent-{}", self.dice.count(1, 4)).into());
        let ttl = Span(self.dice.millis(2_000, 8_000));
        let delay = self.dice.millis(1, 400);
        self.after(delay, Event::Arrive(Errand::Claim { step, executor, ttl }));
    }

    /// An executor asks what there is to do, as it does now and then.
    pub(super) fn look_for_work(&mut self) {
        let Some(owner) = self.owners.last().filter(|owner| owner.writer.outstanding() == 0) else {
            return;
        };
        let kernel = owner.writer.kernel();
        let all = kernel.deployments().flat_map(|(id, _)| kernel.waiting(id, 30));
        let all: Vec<WaitingStep> = all.collect();
        for it in all {
            match it.why {
                Waiting::Unclaimed => self.claim(it.step),
                why => self.tend(it.step, &why),
            }
        }
    }

    /// An answer reaches who asked.
    pub(super) fn heard(&mut self, errand: Errand, result: Result<Reply, RequestError>) {
        match (errand, result) {
            (Errand::Claim { executor, ttl, .. }, Ok(Reply::Claimed { step, fence, .. })) => {
                self.take_on(step, fence, &executor, ttl);
            }
            (Errand::Take { executor, life, ttl, since, .. }, result) => {
                self.handed((&executor, life), (ttl, since), result);
            }
            (Errand::Report { again, .. }, Err(RequestError::Refused(refusal))) => match refusal {
                Refusal::StaleFence { .. } => self.tally.saw(Rare::StaleAnswerRefused),
                _ if again => self.tally.saw(Rare::DuplicateAnswerRefused),
                _ => {}
            },
            (errand @ Errand::Report { .. }, Err(_)) => self.unheard(errand),
            (Errand::Alive(who), Err(RequestError::Refused(_))) => self.say_hello(&who),
            (Errand::Person(wish), Ok(_)) => match wish.command {
                Command::Approve { outcome: Outcome::Fail, .. } => self.tally.saw(Rare::Rejected),
                Command::Approve { .. } => self.tally.saw(Rare::Approved),
                _ => {}
            },
            (Errand::Person(wish) | Errand::Ship { wish, .. }, Err(RequestError::Refused(why))) => {
                match why {
                    Refusal::NoApproval => self.tally.saw(Rare::AnsweredTwice),
                    Refusal::UnknownService { .. } => self.tally.saw(Rare::UnknownService),
                    _ => {}
                }
                self.note(|| format!("somebody is told: {why} ({:?})", wish.command));
            }
            (errand @ (Errand::Person(_) | Errand::Ship { .. }), Err(error)) => {
                self.note(|| format!("somebody is told: {error}"));
                self.wish_again(errand);
            }
            _ => {}
        }
    }

    /// An executor has a task.
    pub(super) fn take_on(&mut self, step: Step, fence: Fence, who: &ExecutorName, ttl: Span) {
        self.counters.jobs += 1;
        let id = self.counters.jobs;
        let answer = match self.flavour {
            Flavour::Plain => None,
            Flavour::Shipyard => self.answer(who),
        };
        self.jobs.insert(id, Job { step, fence, executor: who.clone(), answer });
        self.begin(id, ttl);
    }

    /// Nobody answered: an executor sends its answer again, a few times.
    pub(super) fn unheard(&mut self, errand: Errand) {
        match errand {
            Errand::Report { job, report, tries, .. } if tries < SENDS => {
                let again = Errand::Report { job, report, again: true, tries: tries + 1 };
                let delay = self.dice.millis(100, 900);
                self.after(delay, Event::Arrive(again));
            }
            Errand::Take { executor, life, .. } => self.seek_soon(&executor, life),
            errand => self.wish_again(errand),
        }
    }

    /// An executor has a task: it plans what it will do with it.
    fn begin(&mut self, job: u64, ttl: Span) {
        let manner = match self.healing {
            Some(_) => Manner::Prompt,
            None => self.dice.weighted(&[
                (50, Manner::Prompt),
                (10, Manner::Dies),
                (12, Manner::Late),
                (6, Manner::Slow),
                (12, Manner::Duplicates),
                (10, Manner::Reorders),
            ]),
        };
        let outcome = self.outcome();
        let ended = Report::Ended(outcome);
        let work = self.dice.millis(50, 1_500);
        if manner != Manner::Prompt {
            let executor = self.jobs[&job].executor.clone();
            self.fault(|| format!("{executor} with job {job}: {manner:?}"));
            if manner == Manner::Dies && self.flavour == Flavour::Shipyard && self.dice.chance(40) {
                self.dies(&executor);
            }
        }
        let plan: &[(i64, Act)] = match manner {
            Manner::Prompt => &[(10_000, Act::Say(Report::Started)), (work, Act::Say(ended))],
            Manner::Dies => &[(10_000, Act::Say(Report::Started))],
            Manner::Late => &[
                (20_000, Act::Say(Report::Changed)),
                (ttl.0 + work * 3, Act::Say(ended)),
                (ttl.0 * 3 + work * 3, Act::SayAgain(ended)),
            ],
            Manner::Slow => &[
                (ttl.0 / 2, Act::Renew),
                (ttl.0, Act::Renew),
                (ttl.0 + ttl.0 / 4, Act::Say(Report::Changed)),
                (ttl.0 + ttl.0 / 3, Act::Say(ended)),
            ],
            Manner::Duplicates => &[
                (10_000, Act::Say(Report::Started)),
                (work, Act::Say(ended)),
                (work + 5_000, Act::SayAgain(ended)),
                (work * 4, Act::SayAgain(ended)),
            ],
            Manner::Reorders => {
                &[(work, Act::Say(ended)), (work + 30_000, Act::SayAgain(Report::Started))]
            }
        };
        for (delay, act) in plan {
            self.after(*delay, Event::Job(job, *act));
        }
    }

    fn outcome(&mut self) -> Outcome {
        match self.healing {
            Some(_) => Outcome::Pass,
            None => self.dice.weighted(&[
                (80, Outcome::Pass),
                (8, Outcome::Warning),
                (12, Outcome::Fail),
            ]),
        }
    }

    /// An executor says what it planned to say.
    pub(super) fn act(&mut self, job: u64, act: Act) {
        let errand = match act {
            Act::Say(report) => Errand::Report { job, report, again: false, tries: 0 },
            Act::SayAgain(report) => Errand::Report { job, report, again: true, tries: 1 },
            Act::Renew => Errand::Renew { job },
        };
        if self.healing.is_none() && self.dice.chance(3) {
            self.fault(|| format!("a request is lost: {errand:?}"));
            return self.unheard(errand);
        }
        let delay = self.dice.millis(1, 30);
        self.after(delay, Event::Arrive(errand));
    }
}
