use seaway_kernel::{Command, Refusal, Step as KernelStep};
use seaway_model::DeploymentId;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::outcome::Held;
use super::player::{Player, person};
use crate::document::{Action, Ship, Step, TaskAddress};

/// Why a step of the scenario was not carried out.
enum No {
    Refused(Refusal),
    /// The deployment never got there.
    NotThere(String),
}

impl From<Refusal> for No {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl std::fmt::Display for No {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::NotThere(what) => f.write_str(what),
        }
    }
}

impl Player<'_> {
    /// Does what a step says, and compares whether it was refused.
    pub(super) fn do_step(&mut self, number: usize) {
        let scenario = self.scenario;
        let step = &scenario.steps[number];
        self.tell_step(step);
        let done = self.act(&step.action);
        let what =
            title(step, &scenario.ships, |executor| self.troupe.get(executor).name.to_string());
        match (done, &step.refused) {
            (Ok(()), None) => {}
            (Ok(()), Some(reason)) => {
                let text = format!("{what} is refused: {reason}");
                self.held.push(Held { text, holds: false, but: "it was carried out".to_owned() });
            }
            (Err(no), expected) => {
                let no = self.named(&no.to_string());
                self.forget_if_absent(&step.action);
                self.tell_refused(&what, &no);
                let (text, holds) = match expected {
                    Some(reason) => (format!("{what} is refused: {reason}"), no.contains(reason)),
                    None => (format!("{what} is carried out"), false),
                };
                let but = if holds { String::new() } else { format!("refused: {no}") };
                self.held.push(Held { text, holds, but });
            }
        }
    }

    fn act(&mut self, action: &Action) -> Result<(), No> {
        let command = match action {
            Action::Apply { file } => {
                let yards = self.yards;
                let changed = self.apply(&yards.later[file])?;
                if !changed {
                    self.tell_unchanged(file);
                }
                return Ok(());
            }
            Action::Joins { executor }
            | Action::Leaves { executor }
            | Action::Dies { executor } => {
                return self.come_or_go(action, *executor);
            }
            Action::Trigger { ship, stage, sequence, data } => {
                let deployment = self.launch(*ship);
                let Ship { service, version, .. } = self.scenario.ships[*ship].clone();
                let (stage, sequence, data) = (stage.clone(), sequence.clone(), text(data));
                let version = version.into();
                Command::Trigger {
                    deployment,
                    stage,
                    sequence,
                    service,
                    version,
                    known: None,
                    data,
                }
            }
            Action::Happen { ship, event, stage, data } => {
                let deployment = self.launch(*ship);
                let Ship { service, version, .. } = self.scenario.ships[*ship].clone();
                let stage = stage.as_ref().map(|(stage, _)| stage.clone());
                let (name, data) = (event.as_str().into(), text(data));
                let version = version.into();
                Command::Happen { deployment, name, stage, service, version, known: None, data }
            }
            Action::Pause { ship } => Command::Pause { deployment: self.known(*ship)? },
            Action::Resume { ship } => Command::Resume { deployment: self.known(*ship)? },
            Action::Abort { ship } => Command::Abort { deployment: self.known(*ship)? },
            Action::Retry { ship, task, data } => {
                let step = self.reached(*ship, task)?;
                Command::Retry { step, data: data.as_ref().and_then(text) }
            }
            Action::Skip { ship, task, reason } => {
                let step = self.reached(*ship, task)?;
                Command::Skip { step, reason: reason.as_str().into() }
            }
        };
        self.command(&command, &person())?;
        Ok(())
    }

    /// The deployment of a ship, in memory if it was there before.
    fn launch(&mut self, ship: usize) -> DeploymentId {
        if let Some(id) = self.ids.get(&ship).copied() {
            if !self.kernel.deployments().any(|(it, _)| it == id) {
                self.revive(id);
            }
            return id;
        }
        let id = DeploymentId(Uuid::from_u128(ship as u128 + 1));
        self.ids.insert(ship, id);
        id
    }

    /// Refuses what cannot be, because a scenario that says so is not the one that was meant.
    fn come_or_go(&mut self, action: &Action, executor: usize) -> Result<(), No> {
        let no = |what: &str| Err(No::NotThere(what.to_owned()));
        match (action, self.is_here(executor)) {
            (Action::Joins { .. }, true) => no("it is there already"),
            (Action::Joins { .. }, false) => Ok(self.joins(executor)?),
            (_, false) => no("it is not there"),
            (Action::Leaves { .. }, true) => Ok(self.leaves(executor)?),
            (_, true) => {
                self.dies(executor);
                Ok(())
            }
        }
    }

    /// A deployment whose first step was refused was never there.
    fn forget_if_absent(&mut self, action: &Action) {
        let (Action::Trigger { ship, .. } | Action::Happen { ship, .. }) = action else { return };
        let Some(id) = self.ids.get(ship).copied() else { return };
        if !self.log.iter().any(|record| record.deployment == Some(id)) {
            self.ids.remove(ship);
        }
    }

    fn reached(&self, ship: usize, task: &TaskAddress) -> Result<KernelStep, No> {
        let id = self.known(ship)?;
        let found = self.find_task(ship, task);
        found.ok_or_else(|| No::NotThere(self.not_there(ship, id, task)))
    }

    fn known(&self, ship: usize) -> Result<DeploymentId, No> {
        let known = self.ids.get(&ship).copied();
        let name = &self.scenario.ships[ship].name;
        known.ok_or_else(|| No::NotThere(format!("{name} was not started")))
    }
}

/// Data as it is sent: the text of a JSON object.
fn text(data: &Map<String, Value>) -> Option<Box<str>> {
    (!data.is_empty()).then(|| Value::Object(data.clone()).to_string().into_boxed_str())
}

/// A step in a few words.
fn title(step: &Step, ships: &[Ship], executor: impl Fn(usize) -> String) -> String {
    let ship = |ship: &usize| &ships[*ship].name;
    match &step.action {
        Action::Trigger { stage, sequence, ship: it, .. } => {
            format!("trigger {stage}.{sequence} in {}", ship(it))
        }
        Action::Happen { event, ship: it, .. } => format!("event {event} in {}", ship(it)),
        Action::Pause { ship: it } => format!("pause {}", ship(it)),
        Action::Resume { ship: it } => format!("resume {}", ship(it)),
        Action::Abort { ship: it } => format!("abort {}", ship(it)),
        Action::Retry { ship: it, task, .. } => format!("retry {task} in {}", ship(it)),
        Action::Skip { ship: it, task, .. } => format!("skip {task} in {}", ship(it)),
        Action::Apply { file } => format!("shipyard {file}"),
        Action::Joins { executor: it } => format!("{} joins", executor(*it)),
        Action::Leaves { executor: it } => format!("{} leaves", executor(*it)),
        Action::Dies { executor: it } => format!("{} dies", executor(*it)),
    }
}
