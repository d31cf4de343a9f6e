use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use seaway_engine::core::Limits;
use seaway_model::planted::{self, Bug};
use seaway_model::{DeploymentId, ExecutorName, Name};

use super::crew::Hand;
use super::dice::Dice;
use super::disk::Disk;
use super::event::{Event, Job, Sent};
use super::heal::Healing;
use super::owner::Owner;
use super::shadow::Shadow;
use super::shape;
use super::ships::Ship;
use super::tally::Tally;
use crate::transcript::Transcript;
use crate::verify::{Rule, Verifier, Violation};

/// How a world ended.
#[derive(Debug)]
pub struct Outcome {
    pub seed: u64,
    pub tally: Tally,
    pub violation: Option<Violation>,
    pub transcript: Vec<String>,
}

/// What kind of pipeline a world is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// Stages in order, with groups and members.
    Plain,
    /// Stages that are entered by triggers, and executors that register.
    Shipyard,
}

/// One world. Everything in it follows from its seed.
#[derive(Debug)]
pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) flavour: Flavour,
    /// Its files have a sequence that starts itself again.
    pub(super) spins: bool,
    /// Its structure is applied as a whole, with documents.
    pub(super) applies: bool,
    /// Microseconds since the world began.
    pub(super) now: i64,
    pub(super) agenda: BTreeMap<(i64, u64), Event>,
    pub(super) project: Name,
    pub(super) disk: Disk,
    /// Processes that believe they own the project; the last one does.
    pub(super) owners: Vec<Owner>,
    pub(super) sent: BTreeMap<u64, Sent>,
    pub(super) jobs: BTreeMap<u64, Job>,
    pub(super) crew: BTreeMap<ExecutorName, Hand>,
    pub(super) ships: BTreeMap<DeploymentId, Ship>,
    pub(super) verifier: Verifier,
    pub(super) shadow: Shadow,
    pub(super) limits: Limits,
    pub(super) tally: Tally,
    pub(super) transcript: Transcript,
    pub(super) healing: Option<Healing>,
    pub(super) counters: Counters,
}

/// Numbers that are given out once.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) events: u64,
    pub(super) appends: u64,
    pub(super) tickets: u64,
    pub(super) keys: u64,
    pub(super) jobs: u64,
    pub(super) owners: u32,
    pub(super) deployments: u128,
    pub(super) versions: [u32; 2],
    pub(super) chaos: u32,
    pub(super) commits: u32,
    pub(super) booting: u32,
    /// The sequence that starts itself again was started when faults had stopped.
    pub(super) spun: bool,
    /// The machine stops as soon as an append is written and not yet synced.
    pub(super) doomed: bool,
}

/// More than any world needs; one that gets here does not end by itself.
const MAX_EVENTS: u64 = 2 * 60_000;
const MIN_FAULTS: u32 = 50;
const MIN_REVISIONS: u64 = 3;
const MIN_STAGES: usize = 2;

/// Lives the world of a seed from its first event to its last, with a bug in it if one is given.
#[must_use]
pub fn run(seed: u64, bug: Option<Bug>, transcript: bool) -> Outcome {
    planted::plant(bug);
    let mut world = World::new(seed, transcript);
    let lived = catch_unwind(AssertUnwindSafe(|| world.live()));
    planted::plant(None);
    let violation = match lived {
        Ok(result) => result.err(),
        Err(_) => Some(Violation::new(Rule::Panic, crate::panics::last())),
    };
    let World { tally, transcript, .. } = world;
    Outcome { seed, tally, violation, transcript: transcript.into_lines() }
}

impl World {
    fn new(seed: u64, transcript: bool) -> Self {
        let mut dice = Dice::new(seed);
        let project = shape::name("shop");
        let limits = Limits {
            mailbox: dice.count(8, 64),
            requests: dice.count(1, 8),
            records: dice.count(2, 64),
            outstanding: dice.count(1, 2),
            takers: dice.count(3, 30),
            ..Limits::default()
        };
        let flavour = match seed.is_multiple_of(2) {
            true => Flavour::Shipyard,
            false => Flavour::Plain,
        };
        let spins = flavour == Flavour::Shipyard && dice.chance(5);
        let applies = dice.chance(40);
        Self {
            dice,
            flavour,
            spins,
            applies,
            now: 0,
            agenda: BTreeMap::new(),
            disk: Disk::new(),
            owners: Vec::new(),
            sent: BTreeMap::new(),
            jobs: BTreeMap::new(),
            crew: BTreeMap::new(),
            ships: BTreeMap::new(),
            verifier: Verifier::new(&project),
            shadow: Shadow::new(&project),
            project,
            limits,
            tally: Tally::default(),
            transcript: Transcript::new(transcript),
            healing: None,
            counters: Counters::default(),
        }
    }

    fn live(&mut self) -> Result<(), Violation> {
        self.at(0, Event::Boot { keep: None });
        self.counters.booting = 1;
        self.define_first_structure();
        if self.flavour == Flavour::Shipyard {
            self.hire_crew();
        }
        self.at(500_000, Event::Chaos);
        while let Some(((now, _), event)) = self.agenda.pop_first() {
            self.now = now;
            self.counters.events += 1;
            if self.counters.events > MAX_EVENTS {
                return Err(Violation::new(Rule::Progress, "the world does not end"));
            }
            self.happen(event)?;
            self.drive_all()?;
            self.absorb()?;
        }
        self.check_end()?;
        self.check_hardness()
    }

    fn happen(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Arrive(errand) => self.arrive(errand),
            Event::Offer(errand, ask) => self.offer(errand, ask),
            Event::Heard(errand, result) => {
                self.heard(errand, result);
                Ok(())
            }
            Event::Land(append) => self.land(append),
            Event::Sync => {
                self.disk.sync();
                Ok(())
            }
            Event::Told(append) => self.told(append),
            Event::Revive { owner, deployment } => self.bring_back(owner, deployment),
            Event::Wake { owner } => {
                let woken = self.owners.iter_mut().find(|it| it.number == owner);
                woken.into_iter().for_each(|owner| owner.wake = None);
                Ok(())
            }
            Event::Job(job, act) => {
                self.act(job, act);
                Ok(())
            }
            Event::Pulse(executor, life) => {
                self.pulse(&executor, life);
                Ok(())
            }
            Event::Seek(executor, life) => {
                self.seek(&executor, life);
                Ok(())
            }
            Event::GoAway { owner, ticket } => {
                self.go_away(owner, ticket);
                Ok(())
            }
            Event::Boot { keep } => self.boot(keep),
            Event::Crash => self.machine_crash(),
            Event::Chaos => self.chaos(),
            Event::Round => self.round(),
        }
    }

    pub(super) fn at(&mut self, time: i64, event: Event) {
        self.counters.events += 1;
        self.agenda.insert((time, self.counters.events), event);
    }

    pub(super) fn after(&mut self, delay: i64, event: Event) {
        self.at(self.now + delay, event);
    }

    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        self.transcript.note(self.now, text);
    }

    /// Something went wrong on purpose.
    pub(super) fn fault(&mut self, text: impl FnOnce() -> String) {
        self.tally.faults += 1;
        self.transcript.note(self.now, || format!("FAULT {}", text()));
    }

    /// Verifies and folds what became durable.
    pub(super) fn absorb(&mut self) -> Result<(), Violation> {
        let seen = self.verifier.head().0 as usize;
        if seen == self.disk.rows().len() {
            return Ok(());
        }
        let known = self.verifier.targets();
        for target in self.disk.targets().iter().skip(known) {
            self.verifier.define(&target.def)?;
            self.shadow.define(&target.def)?;
        }
        for row in &self.disk.rows()[seen..] {
            self.transcript.record(self.now, row, || self.verifier.path(row.target));
            self.verifier.feed(row)?;
            let record = self.verifier.last();
            self.tally.note(record);
            self.tally.revisions = self.tally.revisions.max(record.revision.unwrap_or_default().0);
            self.shadow.apply(record)?;
        }
        self.shadow.sweep();
        self.tally.stages = self.tally.stages.max(self.verifier.stages());
        self.check_replay()
    }

    /// Whether the world has seen enough for its faults to stop.
    pub(super) fn is_hard(&self) -> bool {
        self.tally.faults >= MIN_FAULTS
            && self.tally.crashes > 0
            && self.tally.revisions >= MIN_REVISIONS
            && self.tally.records >= 260
    }

    fn check_hardness(&self) -> Result<(), Violation> {
        let tally = &self.tally;
        let hard = self.is_hard() && tally.stages >= MIN_STAGES;
        let detail = || {
            let Tally { faults, crashes, revisions, stages, .. } = tally;
            format!("{faults} faults, {crashes} crashes, {revisions} revisions, {stages} stages")
        };
        if hard { Ok(()) } else { Err(Violation::new(Rule::Hardness, detail())) }
    }
}
