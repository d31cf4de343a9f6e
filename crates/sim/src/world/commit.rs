use seaway_engine::core::{AppendFailure, Obstacle};
use seaway_model::planted::{Bug, planted};
use seaway_wire::Append;

use super::event::{Event, Fate, Sent};
use super::life::World;
use super::owner::Owner;
use super::tally::Rare;
use crate::verify::Violation;

impl World {
    /// Hands an append to the store. Appends of one owner arrive in order.
    pub(super) fn send(&mut self, owner: &mut Owner, append: Append) {
        self.counters.appends += 1;
        let id = self.counters.appends;
        let fate = self.fate();
        let wait = owner.appends.len() as i64 * 10_000;
        let landing = wait + self.dice.millis(1, 8);
        let result = match fate {
            Fate::Written => Ok(()),
            Fate::DiskFull => Err(AppendFailure::NotWritten(Obstacle::DiskFull)),
            Fate::Lost | Fate::AnswerLost | Fate::Late => Err(AppendFailure::Unknown),
        };
        self.sent.insert(id, Sent { owner: owner.number, append, fate, landed: false, result });
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
        if self.is_early(id) {
            self.after(500, Event::Land(id));
            return Ok(());
        }
        let Some(mut sent) = self.sent.remove(&id) else { return Ok(()) };
        sent.landed = true;
        let landed = self.disk.land(&sent.append);
        if landed.is_ok() {
            for row in &sent.append.rows {
                self.verifier.written(row, sent.append.epoch)?;
            }
            self.disk.check_answers()?;
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

    /// Whether an append of the same owner was sent before this one and is still on its way.
    fn is_early(&self, id: u64) -> bool {
        let Some(sent) = self.sent.get(&id) else { return false };
        let arrives = |fate| matches!(fate, Fate::Written | Fate::AnswerLost);
        let mut before = self.sent.range(..id).map(|(_, it)| it);
        sent.fate != Fate::Late
            && before.any(|it| it.owner == sent.owner && !it.landed && arrives(it.fate))
    }

    /// The store's answer reaches the owner, if it still lives. Answers come in order.
    pub(super) fn told(&mut self, id: u64) -> Result<(), Violation> {
        let waits = |owner: &Owner| owner.appends.front().is_some_and(|first| *first < id);
        let number = self.sent.get(&id).map(|sent| sent.owner);
        if self.owners.iter().any(|owner| Some(owner.number) == number && waits(owner)) {
            self.after(500, Event::Told(id));
            return Ok(());
        }
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
        let Owner { number, writer, mut callers, gone, epoch, .. } = owner;
        self.note(|| format!("owner {number} drops its state: {failure:?}"));
        for (ticket, error) in writer.failed(failure) {
            if let Some(errand) = callers.remove(&ticket).filter(|_| !gone.contains(&ticket)) {
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
}
