use seaway_kernel::Record;
use seaway_model::{DeploymentId, Fact, Kind, Level, Outcome};
use serde_json::{Map, Value};

use super::outcome::{Ended, Held, Waits};
use super::player::{Player, START};
use crate::document::{Expectation, Ran, TaskAddress, Times, Verdict};

impl Player<'_> {
    /// How a deployment stands.
    pub(super) fn ended(&self, ship: usize) -> Ended {
        let Some(id) = self.ids.get(&ship).copied() else {
            let ship = self.scenario.ships[ship].clone();
            return Ended { ship, revision: None, verdict: Verdict::Absent, at: None };
        };
        let mine = || self.log.iter().filter(|it| it.deployment == Some(id));
        let revision = mine().find_map(|record| record.revision);
        let live = self.kernel.deployments().any(|(it, _)| it == id);
        let end = mine().rev().find(|it| it.kind == Kind::PipelineFinished);
        let verdict = match end {
            _ if live => Verdict::Open,
            None if mine().next().is_none() => Verdict::Absent,
            None => Verdict::Open,
            Some(end) => verdict(end),
        };
        let at = end.filter(|_| !live).map(|end| end.at - START);
        Ended { ship: self.scenario.ships[ship].clone(), revision, verdict, at }
    }

    /// Everything that does not move, and why. Deployments that are over are brought back for it,
    /// because a join that they began to fill may still fire, so that nothing may follow this.
    pub(super) fn waits(&mut self, ended: &[Ended]) -> Vec<Waits> {
        let over = |ended: &Ended| !matches!(ended.verdict, Verdict::Open | Verdict::Aborted);
        if self.yards.have_joins() {
            let ids: Vec<DeploymentId> =
                self.ids.iter().filter(|(ship, _)| over(&ended[**ship])).map(|it| *it.1).collect();
            ids.into_iter().for_each(|id| self.revive(id));
        }
        let mut all = Vec::new();
        for (&ship, &id) in &self.ids {
            let name = self.scenario.ships[ship].name.clone();
            let open = ended[ship].verdict == Verdict::Open;
            for waits in self.kernel.waiting(id, usize::MAX).iter().filter(|_| open) {
                let place = self.place(waits.step.target);
                let (why, ended_by) = self.why(waits);
                all.push(Waits { ship: name.clone(), place, why, ended_by });
            }
            for join in self.kernel.waiting_joins(id) {
                let missing: Vec<String> = join.missing.iter().map(ToString::to_string).collect();
                let missing = missing.join(" and ");
                let place = format!("{}.{}", join.stage, join.sequence);
                let why = format!("it waits for {missing}");
                all.push(Waits { ship: name.clone(), place, why, ended_by: missing });
            }
        }
        all
    }

    /// Compares what was expected with what happened.
    pub(super) fn judge(&mut self, ended: &[Ended], waits: &[Waits]) -> Vec<Held> {
        let mut held = std::mem::take(&mut self.held);
        let expect = self.scenario.expect.iter();
        held.extend(expect.map(|it| self.judge_one(it, ended, waits)));
        held
    }

    fn judge_one(&self, expectation: &Expectation, ended: &[Ended], waits: &[Waits]) -> Held {
        match expectation {
            Expectation::Ends { ship, verdict, because } => {
                judge_end(&ended[*ship], waits, *verdict, because.as_deref())
            }
            Expectation::Ran { what, ship, times } => self.judge_ran(what, *ship, *times),
            Expectation::Received { task, ship, data } => self.judge_data(task, *ship, data),
        }
    }

    fn judge_ran(&self, what: &Ran, ship: Option<usize>, times: Times) -> Held {
        let ran = self.log.iter().filter(|it| self.is_start(it, what, ship)).count();
        let within =
            ship.map_or(String::new(), |it| format!(" in {}", self.scenario.ships[it].name));
        let (text, holds) = match times {
            Times::Never => (format!("{what} did not run{within}"), ran == 0),
            Times::Some => (format!("{what} ran{within}"), ran > 0),
            Times::Exactly(times) => {
                (format!("{what} ran {times} times{within}"), ran == times as usize)
            }
        };
        let but = if holds { String::new() } else { format!("it ran {ran} times") };
        Held { text, holds, but }
    }

    /// Whether a record is the beginning of a run, or of a task.
    fn is_start(&self, record: &Record, what: &Ran, ship: Option<usize>) -> bool {
        let begins = match (record.kind, record.fact, &what.task) {
            (Kind::SequenceStarted, Fact::Finished, None) => true,
            (Kind::TaskDone, Fact::Dispatched, Some(_)) => true,
            _ => return false,
        };
        let level = self.kernel.targets().get(record.target).level;
        let Some(spot) = self.spot(record.deployment, record.target) else { return false };
        begins
            && level != Level::Executor
            && spot.stage == what.stage.as_str()
            && spot.sequence == what.sequence.as_str()
            && spot.task.as_deref() == what.task.as_ref().map(|it| it.as_str())
            && ship.is_none_or(|ship| spot.ship == Some(ship))
    }

    fn judge_data(
        &self,
        task: &TaskAddress,
        ship: Option<usize>,
        data: &Map<String, Value>,
    ) -> Held {
        let wanted = Value::Object(data.clone());
        let text = format!("{task} received {wanted}");
        let fits = |line: &&crate::tell::Line| {
            let spot = line.spot.as_ref().is_some_and(|spot| spot.is(task));
            spot && ship.is_none_or(|ship| line.ship == Some(ship))
        };
        let received: Vec<&Value> =
            self.story.lines().iter().filter(fits).filter_map(|it| it.data.as_ref()).collect();
        let holds = received.iter().any(|it| contains(it, &wanted));
        let but = match received.last() {
            _ if holds => String::new(),
            Some(last) => format!("it received {last}"),
            None => "it did not run".to_owned(),
        };
        Held { text, holds, but }
    }
}

fn judge_end(ended: &Ended, waits: &[Waits], verdict: Verdict, because: Option<&str>) -> Held {
    let name = &ended.ship.name;
    let mine = waits.iter().filter(|it| it.ship == *name);
    let why: Vec<String> = mine.map(|it| format!("{}: {}", it.place, it.why)).collect();
    let why = why.join("; ");
    let (text, said) = match because {
        Some(because) => (format!("{name} is {verdict} because {because}"), why.contains(because)),
        None => (format!("{name} is {verdict}"), true),
    };
    let holds = ended.verdict == verdict && said;
    let but = match (holds, said || why.is_empty()) {
        (true, _) => String::new(),
        (false, false) => format!("it is {} ({why})", ended.verdict),
        (false, true) if ended.verdict == verdict => {
            format!("it is {}, and nothing of it waits", ended.verdict)
        }
        (false, true) => format!("it is {}", ended.verdict),
    };
    Held { text, holds, but }
}

fn verdict(end: &Record) -> Verdict {
    match (end.fact, end.outcome) {
        (Fact::Failed, _) => Verdict::Fail,
        (Fact::Superseded, _) => Verdict::Superseded,
        (Fact::Cancelled, _) => Verdict::Aborted,
        (_, Some(Outcome::Warning)) => Verdict::Warning,
        (_, Some(Outcome::Fail)) => Verdict::Fail,
        _ => Verdict::Pass,
    }
}

/// Whether everything of one value is in another.
fn contains(all: &Value, part: &Value) -> bool {
    match (all, part) {
        (Value::Object(all), Value::Object(part)) => {
            part.iter().all(|(key, value)| all.get(key).is_some_and(|it| contains(it, value)))
        }
        _ => all == part,
    }
}
