use seaway_model::{DeploymentId, ExecutorName, Fact, Kind, Name, Outcome, Revision, Span};

use super::deployment::is_plain;
use crate::flow::{MAX_PAYLOAD, object};
use crate::fold::received;
use crate::record::{Detail, Subscription};
use crate::schedule::{Draft, Pen};
use crate::state::{Deployment, RunKey, Seen};
use crate::structure::Event;
use crate::{Kernel, Refusal, Reply};

/// What a command says that may start a deployment.
#[derive(Clone, Copy)]
pub(super) struct Ship<'a> {
    pub(super) deployment: DeploymentId,
    pub(super) service: &'a Name,
    pub(super) version: &'a str,
    pub(super) known: Option<Revision>,
}

impl Kernel {
    pub(super) fn trigger(
        &mut self,
        ship: Ship<'_>,
        (stage, sequence): (&Name, &Name),
        data: Option<&str>,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        let unknown =
            || Refusal::UnknownSequence { stage: stage.clone(), sequence: sequence.clone() };
        let number = self.world.stages.find(stage.as_str()).ok_or_else(unknown)?;
        let order = self.world.sequences.find(sequence.as_str()).ok_or_else(unknown)?;
        let exists = self.world.current.contains_key(&(number, order));
        if !exists || !self.world.is_triggered(number) {
            return Err(unknown());
        }
        let data = check_data(data)?;
        let known = self.known_ship(ship)?;
        let next = known.map_or(1, |id| self.deployments[&id].next_number(number, order));
        if next > Refusal::MAX_RUNS {
            return Err(Refusal::TooManyRuns);
        }
        let (before, revision) = self.launch(ship, pen)?;
        let detail = Some(Box::new(Detail::Triggered { on: None, data: data.into() }));
        let outcome = Some(Outcome::Pass);
        let draft = Draft { outcome, detail, ..Draft::new(Fact::Finished) };
        let draft = Draft { cause: before, ..draft };
        let key = RunKey { stage: number, sequence: order, number: next };
        self.trigger_run(ship.deployment, key, draft, pen);
        Ok(Reply::Started { at: self.head, deployment: ship.deployment, revision })
    }

    pub(super) fn happen(
        &mut self,
        ship: Ship<'_>,
        (name, stage): (&str, Option<&Name>),
        data: Option<&str>,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        let word = |part: &str| !part.is_empty() && Name::new(part).is_ok();
        if name.len() > 200 || !name.split('.').all(word) {
            return Err(Refusal::BadEvent(name.into()));
        }
        let data = check_data(data)?;
        let known = self.known_ship(ship)?;
        self.check_event((name, stage), data, known.is_none())?;
        let (before, revision) = self.launch(ship, pen)?;
        let n = self.deployments[&ship.deployment].events + 1;
        let (name, stage, data) = (name.into(), stage.cloned(), data.into());
        let detail = Some(Box::new(Detail::Happened { name, stage, data }));
        let draft = Draft { n, detail, cause: before, ..Draft::new(Fact::Received) };
        let target = seaway_model::TargetTable::ROOT;
        self.emit_at(ship.deployment, (target, Kind::Event), draft, pen);
        Ok(Reply::Started { at: self.head, deployment: ship.deployment, revision })
    }

    /// An event that starts nothing is refused, unless it belongs to a deployment that is known:
    /// then it is part of its history.
    fn check_event(
        &self,
        (name, stage): (&str, Option<&Name>),
        data: &str,
        fresh: bool,
    ) -> Result<(), Refusal> {
        let cause = received(name, stage, data);
        let seen = Seen::new(self.head.next(), &cause);
        let mut entries = self.world.entries(&cause);
        if entries.is_empty() {
            return Err(self.unnamed(name, stage));
        }
        entries.retain(|entry| self.world.is_here(&cause, *entry));
        if let (true, Some(stage)) = (entries.is_empty(), stage) {
            return Err(Refusal::NotInStage { event: name.into(), stage: stage.clone() });
        }
        let taken = entries.into_iter().any(|entry| {
            self.world.trigger(entry).is_some_and(|it| self.world.takes(&seen, entry, it))
        });
        if taken || !fresh { Ok(()) } else { Err(Refusal::NotSelected(name.into())) }
    }

    /// Why no entry names an event.
    fn unnamed(&self, name: &str, stage: Option<&Name>) -> Refusal {
        let whole = stage.map_or_else(|| name.into(), |stage| format!("{stage}.{name}"));
        let parts = |text: &str| -> Option<Event> {
            let (stage, rest) = text.split_once('.')?;
            let sequence = rest.strip_suffix(".finished")?;
            let (stage, sequence) = (Name::new(stage).ok()?, Name::new(sequence).ok()?);
            Some(Event::Finished { stage, sequence })
        };
        let ends = |text: &str| parts(text).is_some_and(|it| self.world.triggers.contains_key(&it));
        if ends(name) || ends(&whole) {
            return Refusal::EndOfSequence(whole.into());
        }
        let stages = self.world.structure.stages.keys().filter(|stage| {
            let event = Event::Domain(format!("{stage}.{name}").into());
            self.world.triggers.contains_key(&event)
        });
        let stages: Vec<Name> = stages.take(10).cloned().collect();
        let event = name.into();
        match stage {
            _ if stages.is_empty() => Refusal::NothingTriggered(event),
            Some(stage) => Refusal::NotInStage { event, stage: stage.clone() },
            None => Refusal::InNoStage { event, stages },
        }
    }

    /// The deployment of a ship, if it is under way already. Everything that could refuse is
    /// asked here, before anything is written.
    fn known_ship(&self, ship: Ship<'_>) -> Result<Option<DeploymentId>, Refusal> {
        if !is_plain(ship.version, Refusal::MAX_VERSION) {
            return Err(Refusal::BadVersion);
        }
        let Some(deployment) = self.deployments.get(&ship.deployment) else {
            let full = self.deployments.len() >= Refusal::MAX_IN_PROGRESS;
            return if full { Err(Refusal::TooManyInProgress) } else { Ok(None) };
        };
        if deployment.service != *ship.service || &*deployment.version != ship.version {
            let (service, version) = (deployment.service.clone(), deployment.version.clone());
            return Err(Refusal::OtherRevision { id: deployment.id, service, version });
        }
        if let crate::state::Course::Aborting { .. } = deployment.course {
            return Err(aborted(deployment));
        }
        Ok(Some(deployment.id))
    }

    /// Starts the deployment unless it is under way. Tells the record that did so.
    fn launch(
        &mut self,
        ship: Ship<'_>,
        pen: &mut Pen<'_>,
    ) -> Result<(Option<seaway_model::Seq>, Revision), Refusal> {
        if let Some(deployment) = self.deployments.get(&ship.deployment) {
            return Ok((None, deployment.revision));
        }
        match self.start(ship.deployment, (ship.service, ship.version), ship.known, pen)? {
            Reply::Started { at, revision, .. } => Ok((Some(at), revision)),
            _ => Ok((None, self.last_revision)),
        }
    }

    pub(super) fn register(
        &mut self,
        executor: &ExecutorName,
        subscriptions: &[Subscription],
        ttl: Span,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let name = &*executor.0;
        if name.is_empty() || name.len() > Refusal::MAX_ACTOR || !name.chars().all(plain) {
            return Err(Refusal::BadExecutor(executor.clone()));
        }
        if name.starts_with("seaway/") {
            return Err(Refusal::ReservedExecutor(executor.clone()));
        }
        check_ttl(ttl)?;
        let some = 1..=Refusal::MAX_SUBSCRIPTIONS;
        if !some.contains(&subscriptions.len()) || !subscriptions.iter().all(fits) {
            return Err(Refusal::BadSubscriptions);
        }
        let full = self.executors.all().len() >= Refusal::MAX_EXECUTORS;
        if full && self.executors.get(executor).is_none() {
            return Err(Refusal::TooManyExecutors);
        }
        let same = self
            .executors
            .get(executor)
            .is_some_and(|known| known.subscriptions == subscriptions && known.ttl == ttl);
        if same {
            self.executors.renew(executor, pen.now);
            return Ok(self.done());
        }
        let (executor, subscriptions) = (executor.clone(), subscriptions.to_vec());
        let detail = Some(Box::new(Detail::Registers { executor, subscriptions, ttl }));
        let draft = Draft { detail, ..Draft::new(Fact::ExecutorRegistered) };
        self.write_project(Kind::Executor, draft, pen);
        Ok(self.done())
    }

    pub(super) fn leave(
        &mut self,
        executor: &ExecutorName,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        if self.executors.get(executor).is_none() {
            return Err(Refusal::UnknownExecutor(executor.clone()));
        }
        self.write_leave(executor, pen);
        Ok(self.done())
    }
}

pub(super) fn check_ttl(ttl: Span) -> Result<(), Refusal> {
    let fits = (Span::from_secs(1)..=Span::from_secs(86_400)).contains(&ttl);
    fits.then_some(()).ok_or(Refusal::BadTtl)
}

/// What an aborted deployment says to everybody.
pub(super) fn aborted(deployment: &Deployment) -> Refusal {
    match deployment.has_ended() {
        true => Refusal::Aborted(deployment.id),
        false => Refusal::Aborting(deployment.id),
    }
}

fn fits(subscription: &Subscription) -> bool {
    let Subscription { stages, services, expressions, .. } = subscription;
    let few = |count: usize| count <= Refusal::MAX_PARTS;
    let short = |text: &str| text.len() <= Refusal::MAX_ACTOR;
    few(stages.len())
        && few(services.len())
        && few(expressions.len())
        && expressions.iter().all(|it| {
            short(&it.key) && few(it.values.len()) && it.values.iter().all(|value| short(value))
        })
}

/// Data as it is kept: the text of a JSON object.
pub(super) fn check_data(data: Option<&str>) -> Result<&str, Refusal> {
    let data = data.unwrap_or("{}");
    if data.len() > MAX_PAYLOAD {
        return Err(Refusal::TooMuchData);
    }
    object(data).map(|_| data).ok_or(Refusal::NotAnObject)
}
