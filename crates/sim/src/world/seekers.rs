use std::collections::BTreeSet;

use seaway_engine::RequestError;
use seaway_engine::core::{Ask, Request, Ticket};
use seaway_kernel::{Actor, Command, Refusal, Reply, Taken, Waiting};
use seaway_model::{ExecutorName, Span, Timestamp};

use super::event::{Errand, Event};
use super::life::World;
use super::owner::Owner;
use super::tally::Rare;
use crate::verify::{Rule, Violation};

/// Executors that ask for work and wait until there is some, instead of looking for it.
impl World {
    /// An executor asks for work, unless that life of it is over.
    pub(super) fn seek(&mut self, executor: &ExecutorName, life: u32) {
        let over = self.healing.as_ref().is_some_and(|healing| healing.over);
        if over || !self.is_living(executor, life) {
            return;
        }
        let errand = Errand::Take {
            executor: executor.clone(),
            life,
            max: self.dice.count(1, 3),
            ttl: Span(self.dice.millis(2_000, 8_000)),
            patience: Span(self.dice.millis(0, 12_000)),
            since: self.now,
        };
        let delay = self.dice.millis(1, 30);
        self.after(delay, Event::Arrive(errand));
    }

    pub(super) fn seek_soon(&mut self, executor: &ExecutorName, life: u32) {
        let delay = self.dice.millis(5, 600);
        self.after(delay, Event::Seek(executor.clone(), life));
    }

    /// An executor that asked for work hears what there is.
    pub(super) fn handed(
        &mut self,
        (executor, life): (&ExecutorName, u32),
        (ttl, since): (Span, i64),
        result: Result<Reply, RequestError>,
    ) {
        self.seek_soon(executor, life);
        match result {
            Ok(Reply::Taken { tasks, .. }) if self.is_living(executor, life) => {
                if tasks.is_empty() {
                    self.tally.saw(Rare::PatienceOver);
                } else if self.now - since > 1_000_000 {
                    self.tally.saw(Rare::TakerWaited);
                }
                for Taken { step, fence, .. } in tasks {
                    self.take_on(step, fence, executor, ttl);
                }
            }
            Err(RequestError::Refused(Refusal::UnknownExecutor(_))) => self.say_hello(executor),
            Err(RequestError::Overloaded(_)) => self.tally.saw(Rare::TakerRefused),
            _ => {}
        }
    }

    /// Somebody who waits for work at an owner may go away before there is some.
    pub(super) fn may_go_away(&mut self, owner: u32, ticket: Ticket, errand: &Errand) {
        let Errand::Take { patience, .. } = errand else { return };
        if self.healing.is_none() && self.dice.chance(15) {
            let after = self.dice.millis(0, patience.0 / 1_000);
            self.after(after, Event::GoAway { owner, ticket });
        }
    }

    pub(super) fn go_away(&mut self, owner: u32, ticket: Ticket) {
        let mut owners = self.owners.iter_mut();
        let Some(owner) = owners.find(|it| it.number == owner) else { return };
        let Some(Errand::Take { executor, life, .. }) = owner.callers.get(&ticket).cloned() else {
            return;
        };
        owner.gone.insert(ticket);
        self.note(|| format!("{executor} no longer waits for {ticket:?}"));
        self.seek_soon(&executor, life);
    }

    /// The connections of an executor that died are cut, if anybody notices.
    pub(super) fn hang_up(&mut self, who: &ExecutorName) {
        if self.dice.chance(30) {
            return;
        }
        let waits = |errand: &Errand| match errand {
            Errand::Take { executor, .. } => executor == who,
            _ => false,
        };
        for owner in &mut self.owners {
            let gone = owner.callers.iter().filter(|(_, errand)| waits(errand));
            owner.gone.extend(gone.map(|(ticket, _)| *ticket));
        }
    }

    /// What nobody was told of is given back, as the engine does when a caller is gone.
    pub(super) fn give_back(&mut self, owner: &mut Owner, reply: Reply) {
        let Reply::Taken { at, tasks } = reply else { return };
        for Taken { step, fence, .. } in tasks {
            self.tally.saw(Rare::GivenBack);
            self.counters.tickets += 1;
            let ticket = Ticket(self.counters.tickets);
            let ask = Ask::command(Command::GiveBack { step, fence }, Actor::Seaway, at);
            // Where there is no room the lease runs out.
            let _ = owner.writer.offer(Request { ticket, ask });
        }
    }

    /// When an owner has nothing left to do, nobody waits there for work that it has.
    pub(super) fn check_handout(&self, owner: &Owner, time: Timestamp) -> Result<(), Violation> {
        let waits = owner.callers.values().filter_map(|errand| match errand {
            Errand::Take { executor, .. } => Some(executor),
            _ => None,
        });
        let waits: BTreeSet<&ExecutorName> = waits.collect();
        let writer = &owner.writer;
        let due = writer.next_wakeup().is_some_and(|at| at <= time);
        if waits.is_empty() || due || writer.outstanding() > 0 || writer.queued() > 0 {
            return Ok(());
        }
        let kernel = writer.kernel();
        for it in kernel.deployments().flat_map(|(id, _)| kernel.waiting(id, usize::MAX)) {
            let Waiting::Offered { to, .. } = &it.why else { continue };
            if let Some(idle) = to.iter().find(|who| waits.contains(who)) {
                let path = kernel.targets().path(it.step.target);
                let detail = format!("{idle} waits, and {path} is there for it");
                return Err(Violation::new(Rule::Handout, detail));
            }
        }
        Ok(())
    }
}
