use std::collections::{BTreeMap, BTreeSet};

use seaway_kernel::{
    Actor, Command, Kernel, Pace, Record, Refusal, Reply, Step, Structure, StructureChange,
};
use seaway_model::{DeploymentId, Kind, Revision, Span, Timestamp};
use seaway_shipyard::{Problems, Shipyard};

use super::agenda::{Agenda, Turn};
use super::outcome::{Held, Played, Stopped};
use super::troupe::Troupe;
use super::work::Work;
use super::yards::Yards;
use crate::document::Scenario;
use crate::read::check_references;
use crate::tell::Story;

/// When virtual time begins. Nobody sees it.
pub(crate) const START: Timestamp = Timestamp(1_000_000_000);
/// Until when those count as there who are never silent.
pub(super) const FOR_EVER: Timestamp = Timestamp(i64::MAX / 4);
/// How long a play lasts that says nothing about it.
const LONGEST: Span = Span::from_secs(30 * 24 * 60 * 60);
/// The most records of one play: loops of triggers may be long.
pub const MOST_RECORDS: usize = 100_000;

/// Plays a scenario to its end, if what it names is there.
pub fn play(scenario: &Scenario, yards: &Yards) -> Result<Played, Problems> {
    check_references(scenario, yards)?;
    let mut player = Player::new(scenario, yards);
    player.open();
    let stopped = player.run();
    Ok(player.close(stopped))
}

#[derive(Debug)]
pub(crate) struct Player<'s> {
    pub(super) scenario: &'s Scenario,
    pub(super) yards: &'s Yards,
    pub(crate) kernel: Kernel,
    pub(crate) now: Timestamp,
    pub(crate) log: Vec<Record>,
    pub(super) agenda: Agenda,
    pub(super) troupe: Troupe,
    pub(super) works: Vec<Work>,
    /// Offers that somebody is about to take, or never will.
    pub(super) pending: BTreeSet<(Step, usize)>,
    /// Deployments that were started, by the position of their ship.
    pub(crate) ids: BTreeMap<usize, DeploymentId>,
    /// Who brought a revision; several deployments may bring the same.
    pub(crate) revisions: BTreeMap<Revision, Vec<DeploymentId>>,
    /// Steps that were refused or not, against what they expected.
    pub(super) held: Vec<Held>,
    pub(crate) story: Story,
}

impl<'s> Player<'s> {
    fn new(scenario: &'s Scenario, yards: &'s Yards) -> Self {
        Self {
            scenario,
            yards,
            kernel: Kernel::new(&yards.project()),
            now: START,
            log: Vec::new(),
            agenda: Agenda::default(),
            troupe: Troupe::of(scenario, yards),
            works: Vec::new(),
            pending: BTreeSet::new(),
            ids: BTreeMap::new(),
            revisions: BTreeMap::new(),
            held: Vec::new(),
            story: Story::default(),
        }
    }

    /// The pipeline is applied, and everybody who is there from the start registers.
    fn open(&mut self) {
        let yards = self.yards;
        self.apply(&yards.first).expect("a checked shipyard is a valid structure");
        for executor in 0..self.troupe.len() {
            if self.troupe.starts(executor, self.scenario) {
                self.joins(executor).expect("a checked executor can register");
            }
        }
        for (number, step) in self.scenario.steps.iter().enumerate() {
            self.agenda.plan(START + step.at, Turn::Script { step: number });
        }
    }

    /// Goes from one moment at which something happens to the next.
    fn run(&mut self) -> Stopped {
        let until = START + self.scenario.until.unwrap_or(LONGEST);
        loop {
            self.settle();
            while let Some(turn) = self.agenda.pop(self.now) {
                self.take_turn(turn);
                self.settle();
                if self.log.len() > MOST_RECORDS {
                    return Stopped::TooLong;
                }
            }
            let wakeup = self.kernel.next_wakeup().filter(|at| *at < FOR_EVER);
            let Some(next) = [wakeup, self.agenda.next_time()].into_iter().flatten().min() else {
                return Stopped::AtRest;
            };
            if next > until {
                self.now = self.now.max(until);
                return Stopped::OutOfTime;
            }
            if self.log.len() > MOST_RECORDS || next <= self.now {
                return Stopped::TooLong;
            }
            self.now = next;
        }
    }

    /// Lets the kernel go on until nothing moves, and lets everybody see what they are offered.
    fn settle(&mut self) {
        loop {
            let mut out = Vec::new();
            let pace = self.kernel.tick(self.now, 1, &mut out);
            self.take(out);
            if pace == Pace::Idle || self.log.len() > MOST_RECORDS {
                break;
            }
        }
        self.kernel.sweep();
        self.look_for_work();
        self.tell_waits();
    }

    pub(super) fn take(&mut self, records: Vec<Record>) {
        for record in records {
            if let (Kind::PipelineStarted, Some(revision), Some(id)) =
                (record.kind, record.revision, record.deployment)
            {
                self.revisions.entry(revision).or_default().push(id);
            }
            self.tell(&record);
            self.log.push(record);
        }
    }

    /// Hands a command to the kernel, with a deployment that left memory brought back first.
    pub(super) fn command(&mut self, command: &Command, by: &Actor) -> Result<Reply, Refusal> {
        let mut out = Vec::new();
        let mut reply = self.kernel.decide(command, self.now, by, &mut out);
        if let Err(Refusal::NotLoaded(id)) = reply {
            self.revive(id);
            reply = self.kernel.decide(command, self.now, by, &mut out);
        }
        self.take(out);
        reply
    }

    pub(super) fn revive(&mut self, id: DeploymentId) {
        let past = self.log.iter().filter(|record| record.deployment == Some(id));
        let past: Vec<Record> = past.cloned().collect();
        if !past.is_empty() {
            self.kernel.revive(&past).expect("its own records bring a deployment back");
        }
    }

    /// Makes a shipyard the newest one. Tells whether anything changed.
    pub(super) fn apply(&mut self, shipyard: &Shipyard) -> Result<bool, Refusal> {
        let new = Structure::from(shipyard);
        let Some(change) = StructureChange::between(self.kernel.structure(), &new) else {
            return Ok(false);
        };
        let command = Command::ChangeStructure(change);
        self.command(&command, &person()).map(|_| true)
    }

    fn close(mut self, stopped: Stopped) -> Played {
        let ended: Vec<_> = (0..self.scenario.ships.len()).map(|ship| self.ended(ship)).collect();
        let waits = self.waits(&ended);
        let held = self.judge(&ended, &waits);
        let took = self.now - START;
        Played { lines: self.story.into_lines(), ended, waits, held, took, stopped }
    }
}

/// Whoever wrote the scenario.
pub(super) fn person() -> Actor {
    Actor::named("person")
}

impl Player<'_> {
    pub(crate) fn ships(&self) -> &[crate::document::Ship] {
        &self.scenario.ships
    }

    pub(crate) fn executor_name(&self, executor: usize) -> String {
        self.troupe.get(executor).name.to_string()
    }
}
