use seaway_engine::RequestError;
use seaway_engine::core::{Ask, Obstacle, Output, Request, Ticket};
use seaway_kernel::{Actor, Command, Effect, Refusal, Reply, Report};
use seaway_model::{DeploymentId, Seq};

use super::event::{Errand, Event};
use super::life::World;
use super::owner::Owner;
use super::tally::Rare;
use super::wishes::launched;
use crate::verify::{About, Rule, Violation};

impl World {
    /// The store is asked what has to be known about a request, and may have its answer.
    pub(super) fn arrive(&mut self, errand: Errand) -> Result<(), Violation> {
        if let Some(reply) = self.kept(&errand)? {
            return self.reply(errand, Ok(reply));
        }
        let Some(ask) = self.ask(&errand) else { return Ok(()) };
        let looked = errand.wish().is_some() && self.healing.is_none();
        if looked && self.dice.chance(30) {
            // Much can happen before it is decided.
            let delay = self.dice.millis(1, 250);
            self.after(delay, Event::Offer(errand, ask));
            return Ok(());
        }
        self.offer(errand, ask)
    }

    /// A request reaches an owner, or nobody.
    pub(super) fn offer(&mut self, errand: Errand, ask: Ask) -> Result<(), Violation> {
        let Some(newest) = self.owners.len().checked_sub(1) else {
            self.unheard(errand);
            return Ok(());
        };
        // Who asks does not know which of two owners is the real one.
        let index = if newest > 0 && self.dice.chance(40) { newest - 1 } else { newest };
        self.counters.tickets += 1;
        let ticket = Ticket(self.counters.tickets);
        let owner = &mut self.owners[index];
        match owner.writer.offer(Request { ticket, ask }) {
            Ok(()) => {
                let number = owner.number;
                owner.callers.insert(ticket, errand.clone());
                self.may_go_away(number, ticket, &errand);
                Ok(())
            }
            Err(overloaded) => self.reply(errand, Err(overloaded.into())),
        }
    }

    fn ask(&mut self, errand: &Errand) -> Option<Ask> {
        let as_of = self.disk.head().seq;
        let command =
            |command: Command, by: &str| Some(Ask::command(command, Actor::named(by), as_of));
        match errand {
            Errand::Start { deployment, service, version } => {
                let known = self.disk.known(service, version);
                let (service, version) = (service.clone(), version.clone());
                command(Command::Start { deployment: *deployment, service, version, known }, "ci")
            }
            Errand::Claim { step, executor, ttl } => {
                let claim = Command::Claim { step: *step, executor: executor.clone(), ttl: *ttl };
                command(claim, &executor.0)
            }
            Errand::Report { job, report, .. } => {
                let job = self.jobs.get(job)?;
                let (step, fence) = (job.step, job.fence);
                let ends = matches!(report, Report::Ended(_));
                let answer = job.answer.clone().filter(|_| ends);
                let report = Command::Report { step, fence, report: *report, answer };
                command(report, &job.executor.0)
            }
            Errand::Renew { job } => {
                let job = self.jobs.get(job)?;
                Some(Ask::Renew { step: job.step, fence: job.fence })
            }
            Errand::Take { executor, max, ttl, patience, .. } => Some(Ask::Take {
                executor: executor.clone(),
                max: *max,
                ttl: *ttl,
                patience: *patience,
                by: Actor::named(&executor.0),
            }),
            Errand::Person(wish) => Some(self.looked_up(wish, "ann")),
            Errand::Ship { wish, .. } => Some(self.looked_up(wish, "ci")),
            Errand::Crew(executor, it) => command(it.clone(), &executor.0),
            Errand::Alive(executor) => Some(Ask::Heartbeat { executor: executor.clone() }),
        }
    }

    /// Lets every owner decide what it can.
    pub(super) fn drive_all(&mut self) -> Result<(), Violation> {
        for index in 0..self.owners.len() {
            let mut owner = self.owners.remove(index);
            let driven = self.drive(&mut owner);
            self.owners.insert(index, owner);
            driven?;
        }
        Ok(())
    }

    fn drive(&mut self, owner: &mut Owner) -> Result<(), Violation> {
        if owner.failure.is_some() {
            return Ok(());
        }
        let mut out = Vec::new();
        let time = owner.time(self.now);
        while let Some(append) = owner.writer.poll_append(time, &mut out) {
            self.send(owner, append);
        }
        self.tell(owner, out)?;
        self.check_handout(owner, time)?;
        let wakeup = owner.writer.next_wakeup().map(|time| self.now + owner.until(time).max(1));
        if let Some(at) = wakeup
            && owner.wake.is_none_or(|wake| wake > at)
        {
            owner.wake = Some(at);
            self.at(at, Event::Wake { owner: owner.number });
        }
        Ok(())
    }

    /// Tells what an owner has to tell, and checks that it may be told.
    pub(super) fn tell(&mut self, owner: &mut Owner, out: Vec<Output>) -> Result<(), Violation> {
        for output in out {
            match output {
                Output::Durable { head } => self.verifier.told(head)?,
                Output::Reply { ticket, result } => {
                    let Some(errand) = owner.callers.remove(&ticket) else { continue };
                    if owner.gone.remove(&ticket) {
                        result.into_iter().for_each(|reply| self.give_back(owner, reply));
                        continue;
                    }
                    if let Ok(reply) = &result {
                        self.borne_out(&errand, reply)?;
                    }
                    self.reply(errand, result)?;
                }
                Output::Effect(effect) => {
                    self.verifier.acted(&effect)?;
                    if let Effect::Offer { step, .. } = effect {
                        self.offered(step);
                    }
                }
                Output::Load { deployment } => {
                    let delay = self.dice.millis(1, 30);
                    self.after(delay, Event::Revive { owner: owner.number, deployment });
                }
            }
        }
        Ok(())
    }

    /// What somebody is told must be true.
    pub(super) fn borne_out(&mut self, errand: &Errand, reply: &Reply) -> Result<(), Violation> {
        self.verifier.replied(reply, &self.about(errand))?;
        if let Some(by) = errand.once()
            && self.verifier.answered(&by, reply)?
        {
            self.tally.saw(Rare::ToldAgain);
        }
        match (errand, reply) {
            (Errand::Take { executor, .. }, Reply::Taken { tasks, .. }) => {
                self.verifier.handed(executor, tasks)
            }
            (Errand::Claim { .. }, Reply::Claimed { step, fence, .. }) => {
                self.verifier.handed_out(*step, *fence)
            }
            _ => Ok(()),
        }
    }

    fn about(&self, errand: &Errand) -> About {
        match errand {
            Errand::Start { deployment, .. } => About::Start(*deployment),
            Errand::Claim { step, executor, .. } => About::Claim(*step, executor.clone()),
            // Other reports that come twice are answered without a record.
            Errand::Report { job, report: Report::Ended(_), .. } => {
                self.jobs.get(job).map_or(About::Other, |job| About::Answer(job.step))
            }
            Errand::Ship { wish, .. } => {
                About::Launch(launched(&wish.command).filter(|_| !wish.has_key()))
            }
            Errand::Person(wish) => match &wish.command {
                Command::Approve { step, outcome, .. } => About::Verdict(*step, *outcome),
                _ => About::Other,
            },
            Errand::Report { .. } | Errand::Renew { .. } | Errand::Take { .. } => About::Other,
            Errand::Crew(..) | Errand::Alive(_) => About::Other,
        }
    }

    /// Sends an answer on its way. Who hears that nothing was written may rely on it.
    pub(super) fn reply(
        &mut self,
        errand: Errand,
        result: Result<Reply, RequestError>,
    ) -> Result<(), Violation> {
        if let Err(RequestError::Refused(Refusal::NotLoaded(id))) = &result {
            let detail = format!("{errand:?} was refused because {id} is not in memory");
            return Err(Violation::new(Rule::Progress, detail));
        }
        let certain = matches!(
            result,
            Err(RequestError::Refused(_)
                | RequestError::NotWritten { .. }
                | RequestError::Overloaded(_)
                | RequestError::StaleLookup)
        );
        let started = match &errand {
            Errand::Start { deployment, .. } => Some(*deployment),
            // What is sent again may start although it was refused before.
            Errand::Ship { wish, fresh: true } if !wish.has_key() => launched(&wish.command),
            _ => None,
        };
        if result == Err(RequestError::StaleLookup) {
            self.tally.saw(Rare::LookedUpTooEarly);
        }
        if let Some(deployment) = started.filter(|_| certain) {
            self.verifier.denied(deployment)?;
        }
        if self.healing.is_none() && self.dice.chance(2) {
            self.fault(|| format!("an answer is lost: {errand:?}"));
            self.unheard(errand);
            return Ok(());
        }
        let delay = self.dice.millis(1, 20);
        self.after(delay, Event::Heard(errand, result));
        Ok(())
    }

    pub(super) fn bring_back(
        &mut self,
        owner: u32,
        deployment: DeploymentId,
    ) -> Result<(), Violation> {
        let Some(index) = self.owners.iter().position(|it| it.number == owner) else {
            return Ok(());
        };
        let mut owner = self.owners.remove(index);
        let mut out = Vec::new();
        if self.healing.is_none() && self.dice.chance(10) {
            self.fault(|| format!("the records of {deployment} cannot be read"));
            let why = Obstacle::Unavailable;
            owner.writer.abandon(deployment, why, &mut out);
        } else {
            let rows = self.disk.rows_of(deployment, Seq(u64::MAX));
            owner.writer.revive(deployment, &rows, &mut out);
            self.tally.saw(Rare::RevivedAfterFailure);
        }
        let told = self.tell(&mut owner, out);
        self.owners.insert(index, owner);
        told
    }
}
