use seaway_kernel::{Command, Structure, StructureChange};
use seaway_model::{DeploymentId, Name};
use uuid::Uuid;

use super::event::{Errand, Event};
use super::life::World;
use super::shape::{SERVICES, name};
use super::wishes::Wish;
use super::yard::{self, EVENTS, Named, STAGES};

/// What is on its way under one id.
#[derive(Clone, Debug)]
pub(super) struct Ship {
    service: Name,
    version: Box<str>,
}

impl World {
    /// The first file, or the one after the next edit.
    pub(super) fn write_file(&mut self) -> Option<Command> {
        let old = match self.view() {
            Some(kernel) => kernel.structure().clone(),
            None => Structure::default(),
        };
        let new = match old.stages.is_empty() {
            true => yard::structure(&mut self.dice),
            false => yard::changed(&mut self.dice, &old),
        };
        let new = if self.spins { yard::looping(new) } else { new };
        if self.applies && !old.stages.is_empty() {
            return Some(self.apply(new));
        }
        StructureChange::between(&old, &new).map(Command::ChangeStructure)
    }

    /// Somebody triggers a sequence, or something happens outside: for something new, or for what
    /// is under way or was.
    pub(super) fn launch(&mut self) {
        let Some(kernel) = self.view() else { return };
        let mut all = sequences(kernel.structure());
        // It takes its time, and is started when faults have stopped.
        all.retain(|(_, sequence)| sequence.as_str() != "spin");
        let first = all.iter().filter(|(stage, _)| stage.as_str() == STAGES[0]);
        let first = first.into_iter().find(|(_, it)| it.as_str() == "delivery").cloned();
        let named = match self.dice.chance(60) {
            true => first.or_else(|| self.dice.pick(&all).cloned()),
            false => self.dice.pick(&all).cloned(),
        };
        let Some(named) = named else { return };
        let (deployment, fresh) = self.ship();
        let command = match self.dice.chance(25) {
            true => self.happening(deployment),
            false => self.trigger(deployment, named),
        };
        self.note(|| format!("ci asks for {command:?}"));
        let wish = self.wish(command);
        let delay = self.dice.millis(1, 30);
        if let Some(later) = self.comes_twice(&wish) {
            let mut wish = wish.clone();
            if fresh && self.dice.chance(50) {
                self.rename(&mut wish.command);
            }
            self.after(delay + later, Event::Arrive(Errand::Ship { wish, fresh: false }));
        }
        self.after(delay, Event::Arrive(Errand::Ship { wish, fresh }));
    }

    /// Whoever sends something again may not have chosen its id, so that it has another.
    fn rename(&mut self, command: &mut Command) {
        if let Command::Trigger { deployment, .. } | Command::Happen { deployment, .. } = command {
            self.counters.deployments += 1;
            let ship = self.ships[deployment].clone();
            *deployment = DeploymentId(Uuid::from_u128(self.counters.deployments));
            self.ships.insert(*deployment, ship);
        }
    }

    /// In a world with a sequence that starts itself again, somebody starts it.
    pub(super) fn spin(&mut self) {
        let all = self.view().map(|kernel| sequences(kernel.structure())).unwrap_or_default();
        if let Some(named) = all.into_iter().find(|(_, sequence)| sequence.as_str() == "spin") {
            self.counters.deployments += 1;
            let deployment = self.new_ship(0);
            let command = self.trigger(deployment, named);
            let wish = Wish::plain(command);
            self.after(5_000, Event::Arrive(Errand::Ship { wish, fresh: true }));
        }
    }

    /// The id of something new, or of something known.
    fn ship(&mut self) -> (DeploymentId, bool) {
        let known = self.ships.keys().copied().filter(|id| self.verifier.has_started(*id));
        let known: Vec<DeploymentId> = known.collect();
        let recent = &known[known.len().saturating_sub(6)..];
        let again = self.dice.pick(recent).copied().filter(|_| self.dice.chance(22));
        if let Some(known) = again {
            return (known, false);
        }
        self.counters.deployments += 1;
        let number = if self.dice.chance(75) { 0 } else { 1 };
        (self.new_ship(number), true)
    }

    fn new_ship(&mut self, number: usize) -> DeploymentId {
        let deployment = DeploymentId(Uuid::from_u128(self.counters.deployments));
        let version = self.next_version(number);
        let version = format!("1.{version}").into_boxed_str();
        let service = name(SERVICES[number]);
        self.ships.insert(deployment, Ship { service, version });
        deployment
    }

    fn trigger(&mut self, deployment: DeploymentId, (stage, sequence): Named) -> Command {
        let Ship { service, version } = self.ships[&deployment].clone();
        let data = self.dice.chance(40).then(|| r#"{"labels": {"color": "blue"}}"#.into());
        Command::Trigger { deployment, stage, sequence, service, version, known: None, data }
    }

    fn happening(&mut self, deployment: DeploymentId) -> Command {
        let Ship { service, version } = self.ships[&deployment].clone();
        let event = EVENTS[self.dice.below(EVENTS.len())].into();
        let stage = STAGES[self.dice.below(STAGES.len())];
        let stage = self.dice.chance(40).then(|| name(stage));
        let data: &str = self.dice.weighted(&[
            (60, "{}"),
            (20, r#"{"result": "fail"}"#),
            (20, r#"{"labels": {"color": "blue"}}"#),
        ]);
        let data = Some(data.into());
        Command::Happen { deployment, name: event, stage, service, version, known: None, data }
    }
}

fn sequences(structure: &Structure) -> Vec<Named> {
    let stages = structure.stages.iter();
    let all =
        stages.flat_map(|(stage, it)| it.sequences.keys().map(|it| (stage.clone(), it.clone())));
    all.collect()
}
