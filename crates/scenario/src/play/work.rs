use seaway_kernel::{Actor, Command, Reply, Report, Step, Waiting};
use seaway_model::{Fence, Outcome};
use serde_json::{Map, Value, json};

use super::agenda::Turn;
use super::player::{FOR_EVER, Player};
use crate::document::{Answer, Conduct};

/// A task that somebody took.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) executor: usize,
    step: Step,
    fence: Fence,
    answer: Answer,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Working,
    /// Its process does nothing for a while.
    Stalled,
    /// Its process is gone, or it was answered.
    Over,
}

impl Work {
    pub(super) fn is_stalled(&self) -> bool {
        self.progress == Progress::Stalled
    }
}

impl Player<'_> {
    /// Plans when everybody takes what they are offered.
    pub(super) fn look_for_work(&mut self) {
        let open: Vec<_> = self.kernel.deployments().map(|(id, _)| id).collect();
        for id in open {
            for waits in self.kernel.waiting(id, usize::MAX) {
                let Waiting::Offered { to, .. } = waits.why else { continue };
                for name in to {
                    let Some(executor) = self.troupe.find(&name) else { continue };
                    if self.troupe.works(executor) && self.pending.insert((waits.step, executor)) {
                        self.plan_to_take(executor, waits.step);
                    }
                }
            }
        }
    }

    fn plan_to_take(&mut self, executor: usize, step: Step) {
        let asked = self.asked(step);
        let answer = self.troupe.next_answer(executor, |address| asked.is(address));
        if answer.conduct == Conduct::Ignores {
            return;
        }
        let delay = answer.delay.unwrap_or(self.troupe.get(executor).delay);
        self.agenda.plan(self.now + delay, Turn::Take { executor, step, answer });
    }

    pub(super) fn take_turn(&mut self, turn: Turn) {
        match turn {
            Turn::Script { step } => self.do_step(step),
            Turn::Take { executor, step, answer } => {
                self.pending.remove(&(step, executor));
                if self.troupe.works(executor) {
                    self.claim(executor, step, answer);
                }
            }
            Turn::End { work } => self.end_work(work),
        }
    }

    fn claim(&mut self, executor: usize, step: Step, answer: Answer) {
        let name = self.troupe.get(executor).name.clone();
        let ttl = self.troupe.get(executor).ttl;
        let by = Actor::named(&name.0);
        let claim = Command::Claim { step, executor: name, ttl };
        // What was offered may be over by now.
        let Ok(Reply::Claimed { step, fence, .. }) = self.command(&claim, &by) else { return };
        let started = Command::Report { step, fence, report: Report::Started, answer: None };
        self.command(&started, &by).expect("who holds a task may say that it has begun");
        self.kernel.renew(step, fence, FOR_EVER).expect("who holds a task may keep it");
        let takes = answer.takes.unwrap_or(self.troupe.get(executor).takes);
        let (conduct, work) = (answer.conduct, self.works.len());
        self.works.push(Work { executor, step, fence, answer, progress: Progress::Working });
        match conduct {
            Conduct::Silent | Conduct::Ignores => {}
            Conduct::Answers { .. } | Conduct::Dies => {
                self.agenda.plan(self.now + takes, Turn::End { work });
            }
            Conduct::Stalls { span, .. } => {
                self.works[work].progress = Progress::Stalled;
                self.tell_process(step, executor, "stands still");
                self.lose_process(executor);
                self.let_go(work);
                self.agenda.plan(self.now + span, Turn::End { work });
            }
        }
    }

    /// From now on the lease of a work runs out.
    fn let_go(&mut self, work: usize) {
        let Work { step, fence, .. } = self.works[work];
        // Its lease may be over already.
        let _ = self.kernel.renew(step, fence, self.now);
    }

    /// The process of a work is gone.
    pub(super) fn lose(&mut self, work: usize) {
        if self.works[work].progress == Progress::Working {
            self.works[work].progress = Progress::Over;
            self.let_go(work);
        }
    }

    fn end_work(&mut self, work: usize) {
        let Work { executor, ref answer, progress, .. } = self.works[work];
        match (answer.conduct, progress) {
            (_, Progress::Over) => {}
            (Conduct::Dies, _) => {
                self.tell_process(self.works[work].step, executor, "dies");
                self.lose_process(executor);
                self.lose(work);
            }
            (Conduct::Answers { outcome, errored, times }, _) => {
                let errored = if errored { "errored" } else { "succeeded" };
                (0..times).for_each(|_| self.answer(work, (outcome, errored)));
            }
            (Conduct::Stalls { outcome, .. }, _) => {
                self.regain_process(executor);
                self.answer(work, (outcome, "succeeded"));
            }
            (Conduct::Silent | Conduct::Ignores, _) => {}
        }
        self.works[work].progress = Progress::Over;
    }

    fn answer(&mut self, work: usize, (outcome, how): (Outcome, &str)) {
        let Work { executor, step, fence, ref answer, .. } = self.works[work];
        let mut data: Map<String, Value> = answer.data.clone();
        if how != "succeeded" {
            data.insert("status".to_owned(), json!(how));
        }
        let data = (!data.is_empty()).then(|| Value::Object(data).to_string().into_boxed_str());
        let by = Actor::named(&self.troupe.get(executor).name.0);
        let report = Command::Report { step, fence, report: Report::Ended(outcome), answer: data };
        if let Err(refusal) = self.command(&report, &by) {
            let name = self.troupe.get(executor).name.clone();
            self.tell_refused_answer(step, &name, outcome, &refusal);
        }
    }
}
