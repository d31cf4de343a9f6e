use seaway_kernel::{Detail, Reason, Record, Refusal, Waiting, WaitingStep};
use seaway_model::{DeploymentId, Fact, Kind, Level, Revision};

use super::narrate::said;
use crate::document::TaskAddress;
use crate::play::Player;
use crate::play::find::Spot;

/// Which of the others has to do with what happens to a deployment.
impl Player<'_> {
    /// Who is in the way of a run, or of a task: a newer revision of the same service that was
    /// there before, or else one that wants to go there.
    pub(super) fn newer(&self, record: &Record, spot: &Spot) -> Option<String> {
        let service = &self.ships()[spot.ship?].service;
        let newer = |it: &&Record| {
            let ship = it.deployment.and_then(|id| self.ship_of(id));
            it.revision > record.revision
                && ship.is_some_and(|ship| self.ships()[ship].service == *service)
                && self.spot(None, it.target).is_some_and(|it| it.stage == spot.stage)
        };
        let last = |kind, fact| {
            let mut past = self.log.iter().rev().filter(|it| (it.kind, it.fact) == (kind, fact));
            past.find(newer)
        };
        let there = last(Kind::TaskDone, Fact::Dispatched);
        let there = there.or_else(|| last(Kind::SequenceTriggered, Fact::Finished))?;
        self.ship_of(there.deployment?).map(|ship| self.ships()[ship].name.clone())
    }

    /// Why something was not done, with who took its place.
    pub(super) fn because(&self, record: &Record, spot: &Spot) -> String {
        let Some(reason) = record.reason() else { return String::new() };
        let by = match reason {
            Reason::Superseded | Reason::Replaced => self.newer(record, spot),
            _ => None,
        };
        match (reason, by) {
            (Reason::Superseded, Some(by)) => format!(": {by} is newer and was there before"),
            (Reason::Replaced, Some(by)) => format!(": {by} is newer and took its place in line"),
            _ => format!(": {}", said(reason)),
        }
    }

    /// The executors that were asked in the attempt of a record, and those who did not answer.
    pub(super) fn asked_for(&self, record: &Record) -> (usize, Vec<String>) {
        let past = self.log.iter().rev().filter(|it| it.deployment == record.deployment);
        let mut ended = Vec::new();
        for it in past {
            let own = it.target == record.target && it.kind == record.kind;
            if own && it.fact == Fact::Dispatched {
                let Some(Detail::Offered { to }) = it.detail.as_deref() else { break };
                let silent = to.iter().map(|name| name.to_string());
                let silent = silent.filter(|name| !ended.contains(name)).collect();
                return (to.len(), silent);
            }
            let node = self.kernel.targets().get(it.target);
            let share = node.level == Level::Executor && node.parent == record.target;
            if share && matches!(it.fact, Fact::Finished | Fact::Failed) {
                ended.push(self.executor_of(it.target));
            }
        }
        (0, Vec::new())
    }

    /// Why a step of a deployment does not move, and what ends it, in the words of the scenario.
    pub(crate) fn why(&self, waits: &WaitingStep) -> (String, String) {
        match &waits.why {
            Waiting::Before { open } if !open.is_empty() => {
                let open = open.iter().map(|it| {
                    let edge = if it.kind == Kind::StageStarted { "start" } else { "end" };
                    format!("the {edge} of {}", self.place(it.target))
                });
                let open = open.collect::<Vec<String>>().join(", ");
                (format!("it comes after {open}"), open)
            }
            why @ Waiting::InLine { holders, ahead, .. } => {
                let me = waits.step.deployment;
                let holders: Vec<String> = holders.iter().map(|it| self.holder(*it, me)).collect();
                let before = match ahead {
                    0 => String::new(),
                    ahead => format!(", then {ahead} ahead in line"),
                };
                (why.to_string(), format!("{} giving it back{before}", holders.join(", ")))
            }
            why => (why.to_string(), why.ended_by()),
        }
    }

    /// The other deployments under way that bring a revision.
    fn holder(&self, revision: Revision, me: DeploymentId) -> String {
        let bring = self.revisions.get(&revision).map_or(&[][..], Vec::as_slice);
        let mut others: Vec<DeploymentId> = bring.iter().copied().filter(|id| *id != me).collect();
        // Mostly there is only one, and then this need not be asked, which would take its time.
        if others.len() > 1 {
            others.retain(|id| self.kernel.deployments().any(|(it, _)| it == *id));
        }
        let names = others.into_iter().filter_map(|id| self.ship_of(id));
        let names: Vec<&str> = names.map(|ship| &*self.ships()[ship].name).collect();
        if names.is_empty() { format!("revision {revision}") } else { names.join(" or ") }
    }

    /// Why there is nothing of a task to retry or to skip.
    pub(crate) fn not_there(&self, ship: usize, id: DeploymentId, task: &TaskAddress) -> String {
        let is = |it: &&Record| {
            let spot = self.spot(it.deployment, it.target);
            it.deployment == Some(id) && spot.is_some_and(|spot| spot.is(task))
        };
        let skipped = self.log.iter().rev().find(is).filter(|it| it.fact == Fact::Skipped);
        if let Some((record, spot)) =
            skipped.and_then(|it| Some((it, self.spot(it.deployment, it.target)?)))
        {
            return format!("{task} was skipped{}", self.because(record, &spot));
        }
        format!("{} has not reached {task}", self.ships()[ship].name)
    }
}

/// Why a loop of triggers ended.
pub(super) fn too_many_runs() -> String {
    let most = Refusal::MAX_RUNS;
    format!("it has run {most} times, the most that a sequence may in one deployment")
}
