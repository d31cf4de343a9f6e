use seaway_kernel::{Command, Kernel, Step, Structure, StructureChange, Waiting};
use seaway_model::{DeploymentId, Outcome};
use uuid::Uuid;

use super::edits;
use super::event::{Errand, Event};
use super::life::{Flavour, World};
use super::shape::{self, SERVICES};
use super::wishes::Wish;

impl World {
    pub(super) fn define_first_structure(&mut self) {
        let command = match self.flavour {
            Flavour::Plain => {
                let edits = shape::first_structure(&mut self.dice);
                Command::ChangeStructure(StructureChange(edits))
            }
            Flavour::Shipyard => self.write_file().expect("the first file has stages"),
        };
        let command = match command {
            Command::ChangeStructure(change) if self.applies => {
                let first = change.apply_to(&Structure::default());
                self.apply(first.expect("the first structure is sound"))
            }
            command => command,
        };
        self.after(100_000, Event::Arrive(Errand::Person(Wish::plain(command))));
    }

    /// The state as a person sees it, when all of it is durable.
    pub(super) fn view(&self) -> Option<&Kernel> {
        let settled = self.owners.last().filter(|owner| owner.writer.outstanding() == 0);
        settled.map(|owner| owner.writer.kernel())
    }

    pub(super) fn ask_for(&mut self, command: Command) {
        self.note(|| format!("ann asks for {command:?}"));
        let wish = self.wish(command);
        let delay = self.dice.millis(1, 30);
        if let Some(later) = self.comes_twice(&wish) {
            self.after(delay + later, Event::Arrive(Errand::Person(wish.clone())));
        }
        self.after(delay, Event::Arrive(Errand::Person(wish)));
    }

    /// A new version is deployed, or now and then an old one once more.
    pub(super) fn deploy(&mut self) {
        self.counters.deployments += 1;
        let deployment = DeploymentId(Uuid::from_u128(self.counters.deployments));
        let number = if self.dice.chance(80) { 0 } else { 1 };
        let version = self.next_version(number);
        let service = shape::name(SERVICES[number]);
        let version = format!("1.{version}").into_boxed_str();
        self.note(|| format!("ci deploys {service} {version} as {deployment}"));
        let delay = self.dice.millis(1, 30);
        self.after(delay, Event::Arrive(Errand::Start { deployment, service, version }));
    }

    pub(super) fn next_version(&mut self, number: usize) -> u32 {
        let newest = self.counters.versions[number];
        if newest > 0 && self.dice.chance(12) {
            self.dice.count(1, newest as usize) as u32
        } else {
            self.counters.versions[number] += 1;
            newest + 1
        }
    }

    /// Somebody changes the structure.
    pub(super) fn restructure(&mut self) {
        if self.flavour == Flavour::Shipyard {
            if let Some(command) = self.write_file() {
                self.ask_for(command);
            }
            return;
        }
        let Some(kernel) = self.view() else { return };
        let structure = kernel.structure().clone();
        let Some(change) = edits::change(&mut self.dice, &structure) else { return };
        let changed = change.apply_to(&structure).ok().filter(|_| self.applies);
        let command = match changed {
            Some(new) => self.apply(new),
            None => Command::ChangeStructure(change),
        };
        self.ask_for(command);
    }

    /// Somebody interferes with a deployment.
    pub(super) fn interfere(&mut self) {
        let Some(kernel) = self.view() else { return };
        let open: Vec<DeploymentId> = kernel.deployments().map(|(id, _)| id).collect();
        let waiting: Vec<(Step, Waiting)> = open
            .iter()
            .flat_map(|id| kernel.waiting(*id, 30))
            .map(|it| (it.step, it.why))
            .collect();
        let failed = self.verifier.failed_steps();
        let choice = self.dice.weighted(&[(20, 0), (25, 1), (4, 2), (40, 3), (11, 4), (25, 5)]);
        let deployment = self.dice.pick(&open).copied();
        let edited = self.flavour == Flavour::Shipyard && self.dice.chance(30);
        let edits = edited.then(|| r#"{"labels": {"color": "red"}, "edited": true}"#.into());
        let command = match choice {
            0 => deployment.map(|deployment| Command::Pause { deployment }),
            1 => {
                let paused = |(step, why): &(Step, Waiting)| match why {
                    Waiting::Paused { .. } => Some(step.deployment),
                    _ => None,
                };
                let paused: Vec<DeploymentId> = waiting.iter().filter_map(paused).collect();
                self.dice.pick(&paused).map(|it| Command::Resume { deployment: *it })
            }
            2 => deployment.map(|deployment| Command::Abort { deployment }),
            5 => return self.answer_approval(&waiting),
            3 => self.dice.pick(&failed).map(|step| Command::Retry { step: *step, data: edits }),
            _ => {
                let steps: Vec<Step> =
                    waiting.iter().map(|(step, _)| *step).chain(failed).collect();
                let step = self.dice.pick(&steps).copied();
                step.map(|step| Command::Skip { step, reason: "not needed".into() })
            }
        };
        if let Some(command) = command {
            self.ask_for(command);
        }
    }
    /// Somebody approves or rejects what waits for that; now and then two people disagree.
    fn answer_approval(&mut self, waiting: &[(Step, Waiting)]) {
        let open = waiting.iter().filter(|(_, why)| matches!(why, Waiting::Approval { .. }));
        let open: Vec<Step> = open.map(|(step, _)| *step).collect();
        let Some(&step) = self.dice.pick(&open) else { return };
        let answers = if self.dice.chance(20) { 2 } else { 1 };
        for _ in 0..answers {
            let outcome = self.dice.weighted(&[
                (60, Outcome::Pass),
                (10, Outcome::Warning),
                (30, Outcome::Fail),
            ]);
            let comment = self.dice.chance(50).then(|| "seen".into());
            self.ask_for(Command::Approve { step, outcome, comment });
        }
    }
}
