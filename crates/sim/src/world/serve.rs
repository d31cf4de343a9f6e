use seaway_engine::RequestError;
use seaway_engine::core::{AppendFailure, Ask, Output, Request, Ticket};
use seaway_kernel::{Actor, Command, Effect, Report};
use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Seq};
use seaway_wire::Append;

use super::event::{Errand, Event, Fate, Sent};
use super::life::World;
use super::owner::Owner;
use super::tally::Rare;
use crate::verify::{About, Violation};

impl World {
    /// A request reaches an owner, or nobody.
    pub(super) fn arrive(&mut self, errand: Errand) -> Result<(), Violation> {
        let Some(newest) = self.owners.len().checked_sub(1) else {
            self.unheard(errand);
            return Ok(());
        };
        // Who asks does not know which of two owners is the real one.
        let index = if newest > 0 && self.dice.chance(40) { newest - 1 } else { newest };
        let Some(ask) = self.ask(&errand) else { return Ok(()) };
        self.counters.tickets += 1;
        let ticket = Ticket(self.counters.tickets);
        let owner = &mut self.owners[index];
        match owner.writer.offer(Request { ticket, ask }) {
            Ok(()) => {
                owner.callers.insert(ticket, errand);
                Ok(())
            }
            Err(overloaded) => self.reply(errand, Err(overloaded.into())),
        }
    }

    fn ask(&mut self, errand: &Errand) -> Option<Ask> {
        let as_of = self.disk.head().seq;
        let command = |command: Command, by: &str| {
            Some(Ask::Command { command, by: Actor::named(by), as_of })
        };
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
                let report = Command::Report { step, fence, report: *report, answer: None };
                command(report, &job.executor.0)
            }
            Errand::Renew { job } => {
                let job = self.jobs.get(job)?;
                Some(Ask::Renew { step: job.step, fence: job.fence })
            }
            Errand::Person(it) => command(it.clone(), "ann"),
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
        let wakeup = owner.writer.next_wakeup().map(|time| self.now + owner.until(time).max(1));
        if let Some(at) = wakeup
            && owner.wake.is_none_or(|wake| wake > at)
        {
            owner.wake = Some(at);
            self.at(at, Event::Wake { owner: owner.number });
        }
        Ok(())
    }

    /// Hands an append to the store. Appends of one owner arrive in order.
    fn send(&mut self, owner: &mut Owner, append: Append) {
        self.counters.appends += 1;
        let id = self.counters.appends;
        let fate = self.fate();
        let wait = owner.appends.len() as i64 * 10_000;
        let landing = wait + self.dice.millis(1, 8);
        let result = match fate {
            Fate::Written => Ok(()),
            Fate::DiskFull => {
                Err(AppendFailure::NotWritten(seaway_engine::core::Obstacle::DiskFull))
            }
            Fate::Lost | Fate::AnswerLost | Fate::Late => Err(AppendFailure::Unknown),
        };
        self.sent.insert(id, Sent { owner: owner.number, append, fate, result });
        owner.appends.push_back(id);
        match fate {
            Fate::Written | Fate::AnswerLost => self.after(landing, Event::Land(id)),
            Fate::DiskFull | Fate::Lost => self.after(landing, Event::Told(id)),
            Fate::Late => {
                self.after(landing, Event::Told(id));
                let late = landing + self.dice.millis(20, 600);
                self.after(late, Event::Land(id));
            }
        }
    }

    pub(super) fn land(&mut self, id: u64) -> Result<(), Violation> {
        let Some(mut sent) = self.sent.remove(&id) else { return Ok(()) };
        let landed = self.disk.land(&sent.append);
        if landed.is_ok() {
            for row in &sent.append.rows {
                self.verifier.written(row, sent.append.epoch)?;
            }
        }
        let sync = self.dice.millis(1, 4);
        if landed.is_ok() {
            self.after(sync, Event::Sync);
            if std::mem::take(&mut self.counters.doomed) {
                self.at(self.now, Event::Crash);
            }
        }
        if sent.fate == Fate::Late {
            if landed.is_err() {
                self.tally.saw(Rare::LateAppendRefused);
            }
            return Ok(());
        }
        if sent.result.is_ok() {
            sent.result = landed;
        }
        self.sent.insert(id, sent);
        let told = if planted(Bug::AcknowledgedBeforeSync) { 0 } else { sync + 1 };
        self.after(told, Event::Told(id));
        Ok(())
    }

    /// The store's answer reaches the owner, if it still lives.
    pub(super) fn told(&mut self, id: u64) -> Result<(), Violation> {
        let late = self.sent.get(&id).is_some_and(|sent| sent.fate == Fate::Late);
        let sent = if late { self.sent.get(&id).cloned() } else { self.sent.remove(&id) };
        let Some(sent) = sent else { return Ok(()) };
        self.absorb()?;
        let Some(index) = self.owners.iter().position(|it| it.number == sent.owner) else {
            return Ok(());
        };
        let mut owner = self.owners.remove(index);
        owner.appends.retain(|it| *it != id);
        match (&sent.result, owner.failure) {
            (Ok(()), None) => {
                let mut out = Vec::new();
                owner.writer.committed(&mut out);
                let told = self.tell(&mut owner, out);
                self.owners.insert(index, owner);
                return told;
            }
            (Ok(()), Some(_)) => {}
            (Err(failure), _) => {
                let certain = *failure != AppendFailure::Unknown;
                let (first, all) = owner.failure.unwrap_or((*failure, true));
                owner.failure = Some((first, all && certain));
            }
        }
        match owner.failure {
            Some((failure, certain)) if owner.appends.is_empty() => {
                self.give_up(owner, failure, certain)
            }
            _ => {
                self.owners.insert(index, owner);
                Ok(())
            }
        }
    }

    /// Everyone is told, the state is dropped, and the project is loaded again.
    fn give_up(
        &mut self,
        owner: Owner,
        failure: AppendFailure,
        certain: bool,
    ) -> Result<(), Violation> {
        let Owner { number, writer, mut callers, epoch, .. } = owner;
        self.note(|| format!("owner {number} drops its state: {failure:?}"));
        for (ticket, error) in writer.failed(failure) {
            if let Some(errand) = callers.remove(&ticket) {
                self.reply(errand, Err(error))?;
            }
        }
        if failure == AppendFailure::Fenced {
            self.tally.saw(Rare::OwnerFenced);
            if self.owners.is_empty() {
                self.boot_soon(None);
            }
            return Ok(());
        }
        self.tally.saw(Rare::ReloadedAfterFailedAppend);
        let keep = (certain && self.dice.chance(60)).then_some(epoch);
        self.boot_soon(keep);
        Ok(())
    }

    /// Tells what an owner has to tell, and checks that it may be told.
    fn tell(&mut self, owner: &mut Owner, out: Vec<Output>) -> Result<(), Violation> {
        for output in out {
            match output {
                Output::Durable { head } => self.verifier.told(head)?,
                Output::Reply { ticket, result } => {
                    if let Some(errand) = owner.callers.remove(&ticket) {
                        if let Ok(reply) = &result {
                            self.verifier.replied(reply, &self.about(&errand))?;
                        }
                        self.reply(errand, result)?;
                    }
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

    fn about(&self, errand: &Errand) -> About {
        match errand {
            Errand::Start { deployment, .. } => About::Start(*deployment),
            Errand::Claim { step, executor, .. } => About::Claim(*step, executor.clone()),
            // Other reports that come twice are answered without a record.
            Errand::Report { job, report: Report::Ended(_), .. } => {
                self.jobs.get(job).map_or(About::Other, |job| About::Answer(job.step))
            }
            Errand::Report { .. } | Errand::Renew { .. } | Errand::Person(_) => About::Other,
        }
    }

    /// Sends an answer on its way. Who hears that nothing was written may rely on it.
    fn reply(
        &mut self,
        errand: Errand,
        result: Result<seaway_kernel::Reply, RequestError>,
    ) -> Result<(), Violation> {
        let certain = matches!(
            result,
            Err(RequestError::Refused(_)
                | RequestError::NotWritten { .. }
                | RequestError::Overloaded(_)
                | RequestError::StaleLookup)
        );
        if let Errand::Start { deployment, .. } = errand
            && certain
        {
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
            let why = seaway_engine::core::Obstacle::Unavailable;
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
