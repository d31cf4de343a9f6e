use seaway_model::Epoch;

use super::event::{Event, Fate};
use super::heal::Healing;
use super::life::{Flavour, World};
use super::owner::{Owner, fold};
use super::tally::Rare;
use crate::verify::Violation;

/// What chance may do next.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Deploy,
    Restructure,
    Interfere,
    LookForWork,
    Crew,
    MachineCrash,
    ProcessCrash,
    Takeover,
    ClockJump,
    Checkpoint,
    Damage,
}

/// At most so many turns; the world is hard enough long before.
const MAX_TURNS: u32 = 900;

impl World {
    pub(super) fn chaos(&mut self) -> Result<(), Violation> {
        self.counters.chaos += 1;
        if self.is_hard() || self.counters.chaos > MAX_TURNS {
            self.healing = Some(Healing::default());
            self.counters.doomed = false;
            self.note(|| "faults stop".to_owned());
            self.gather_crew();
            self.after(1, Event::Round);
            return Ok(());
        }
        let wait = self.dice.millis(20, 900);
        self.after(wait, Event::Chaos);
        if self.view().is_some_and(|kernel| kernel.structure().stages.is_empty()) {
            // The first request to define it came to nothing.
            self.define_first_structure();
            return Ok(());
        }
        let busy = self.view().map_or(0, |kernel| kernel.deployments().count());
        let deploy = if busy < 4 { 18 } else { 1 };
        let crew = if self.flavour == Flavour::Shipyard { 8 } else { 0 };
        match self.dice.weighted(&[
            (deploy, Turn::Deploy),
            (12, Turn::Restructure),
            (22, Turn::Interfere),
            (12, Turn::LookForWork),
            (crew, Turn::Crew),
            (2, Turn::MachineCrash),
            (2, Turn::ProcessCrash),
            (2, Turn::Takeover),
            (3, Turn::ClockJump),
            (4, Turn::Checkpoint),
            (2, Turn::Damage),
        ]) {
            Turn::Deploy if self.flavour == Flavour::Shipyard => self.launch(),
            Turn::Deploy => self.deploy(),
            Turn::Restructure => self.restructure(),
            Turn::Interfere => self.interfere(),
            Turn::LookForWork => self.look_for_work(),
            Turn::Crew => self.change_crew(),
            Turn::MachineCrash if self.dice.chance(60) => self.counters.doomed = true,
            Turn::MachineCrash => return self.machine_crash(),
            Turn::ProcessCrash => self.process_crash(),
            Turn::Takeover => self.takeover(),
            Turn::ClockJump => self.clock_jump(),
            Turn::Checkpoint => return self.write_checkpoint(),
            Turn::Damage => self.damage_checkpoint(),
        }
        Ok(())
    }

    /// What the store will do with the next append.
    pub(super) fn fate(&mut self) -> Fate {
        if self.healing.is_some() {
            return Fate::Written;
        }
        let fate = self.dice.weighted(&[
            (960, Fate::Written),
            (12, Fate::DiskFull),
            (9, Fate::Lost),
            (9, Fate::AnswerLost),
            (10, Fate::Late),
        ]);
        if fate != Fate::Written {
            self.fault(|| format!("the next append: {fate:?}"));
        }
        fate
    }

    /// Everything stops at once, and what was not synced may be gone.
    pub(super) fn machine_crash(&mut self) -> Result<(), Violation> {
        let unsynced = self.disk.unsynced();
        let kept = self.dice.count(0, unsynced);
        self.tally.crashes += 1;
        self.fault(|| format!("the machine stops; {kept} of {unsynced} unsynced appends survive"));
        if kept < unsynced {
            self.tally.saw(Rare::UnsyncedAppendLost);
        }
        self.disk.crash(kept);
        self.sent.clear();
        let stopped = std::mem::take(&mut self.owners);
        stopped.into_iter().for_each(|owner| self.cut_off(owner));
        self.verifier.nothing_lost(self.disk.hashes())?;
        self.boot_soon(None);
        Ok(())
    }

    /// The newest owner stops; what it sent may still arrive.
    fn process_crash(&mut self) {
        if let Some(owner) = self.owners.pop() {
            self.tally.crashes += 1;
            self.fault(|| format!("owner {} stops", owner.number));
            self.cut_off(owner);
            self.boot_soon(None);
        }
    }

    /// Those who waited for an owner that is no more hear nothing.
    pub(super) fn cut_off(&mut self, owner: Owner) {
        let Owner { callers, gone, .. } = owner;
        for (ticket, errand) in callers {
            if !gone.contains(&ticket) {
                self.unheard(errand);
            }
        }
    }

    /// Another process takes the project, and the old one finds out when it writes.
    fn takeover(&mut self) {
        if self.owners.len() == 1 {
            self.fault(|| "another process takes the project over".to_owned());
            self.boot_soon(None);
        }
    }

    /// The machine slept, or a reading comes out of order. Jumps of the wall clock cannot even be
    /// expressed: nothing here has one.
    fn clock_jump(&mut self) {
        // Long enough for a task that nobody can do to be given up.
        let asleep = self.flavour == Flavour::Shipyard && self.dice.chance(8);
        let ahead = if asleep { 900_000 } else { 20_000 };
        let jump = if self.dice.chance(50) { -200 } else { ahead };
        let jump = self.dice.millis(jump.min(0), jump.max(0));
        if let Some(owner) = self.owners.last_mut() {
            owner.offset += jump;
            owner.wake = None;
            self.fault(|| format!("the clock jumps by {jump} µs"));
        }
    }

    fn write_checkpoint(&mut self) -> Result<(), Violation> {
        let loaded = fold(&self.disk, &self.project, 50)?;
        self.note(|| format!("a checkpoint is written at {}", loaded.replay.head()));
        self.disk.checkpoint = Some(loaded.replay.checkpoint());
        Ok(())
    }

    fn damage_checkpoint(&mut self) {
        let Some(mut checkpoint) = self.disk.checkpoint.take() else { return };
        let at = self.dice.below(checkpoint.bytes.len());
        match self.dice.below(4) {
            0 => checkpoint.state_digest.0[at % 32] ^= 0x10,
            1 => checkpoint.bytes.truncate(at),
            _ => checkpoint.bytes[at] ^= 1 << self.dice.below(8),
        }
        self.disk.checkpoint = Some(checkpoint);
        self.fault(|| format!("the checkpoint is damaged near byte {at}"));
    }

    pub(super) fn boot_soon(&mut self, keep: Option<Epoch>) {
        self.counters.booting += 1;
        let delay = self.dice.millis(5, 400);
        self.after(delay, Event::Boot { keep });
    }

    /// A process starts: takes the project, loads it, and becomes its owner.
    pub(super) fn boot(&mut self, keep: Option<Epoch>) -> Result<(), Violation> {
        self.counters.booting -= 1;
        let current = self.owners.last().map(|owner| owner.epoch);
        if keep.is_some() && current.is_some() {
            return Ok(());
        }
        let newest = self.verifier.newest_owner();
        let epoch = match keep.filter(|epoch| *epoch == newest) {
            Some(epoch) => epoch,
            None => self.disk.acquire(),
        };
        self.verifier.owned(epoch);
        self.absorb()?;
        let stale = if self.healing.is_some() { 0 } else { 1 };
        while self.owners.len() > stale {
            let owner = self.owners.remove(0);
            self.cut_off(owner);
        }
        let page = self.dice.count(1, 200);
        let loaded = fold(&self.disk, &self.project, page)?;
        if let Some(why) = &loaded.set_aside {
            self.tally.saw(Rare::CheckpointSetAside);
            self.note(|| format!("the checkpoint is set aside: {why}"));
            self.disk.checkpoint = None;
        }
        if loaded.checkpoint_used {
            self.tally.saw(Rare::CheckpointUsed);
        }
        self.counters.owners += 1;
        let number = self.counters.owners;
        // Every process has a monotonic clock with an origin of its own.
        let offset = self.dice.millis(0, 100_000_000);
        let owner = Owner::new((number, epoch), loaded.replay, (self.now, offset), self.limits);
        let head = owner.writer.kernel().head();
        self.note(|| format!("owner {number} starts with epoch {epoch} at record {head}"));
        let digest = owner.writer.kernel().digest();
        self.owners.push(owner);
        self.compare(digest, "after a load")
    }
}
