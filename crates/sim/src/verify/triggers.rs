use seaway_kernel::{Actor, Detail, Entry as Way, Event, On, Reason, Record, Refusal, Trigger};
use seaway_model::{DeploymentId, Fact, Kind, Name, Outcome, Seq, TargetId, TargetTable};
use serde_json::Value;

use super::born::{Born, Entry, Happening};
use super::ledger::{Course, Life, RunLog, Status};
use super::log::Verifier;
use super::violation::{Rule, Violation};

fn broken(detail: impl Into<String>) -> Result<(), Violation> {
    Err(Violation::new(Rule::Trigger, detail))
}

impl Verifier {
    /// A run of a triggered stage is born, or refused.
    pub(super) fn triggered(&mut self, id: DeploymentId, record: &Record) -> Result<(), Violation> {
        let (on, data) = match record.detail.as_deref() {
            Some(Detail::Triggered { on, data }) => (on.clone(), Some(data)),
            Some(Detail::Refused { on, .. }) => (Some(on.clone()), None),
            _ => return broken("it does not say what triggered it"),
        };
        let spot = self.paths.spot(record.target);
        let (Some(stage), Some(sequence)) = (spot.stage.clone(), spot.sequence.clone()) else {
            return broken("it is not a run");
        };
        let now = self.structure.stages.get(&stage).filter(|it| it.entry == Way::Triggered);
        if now.is_none_or(|stage| !stage.sequences.contains_key(&sequence)) {
            return broken("there is no such sequence now");
        }
        if self.lives[&id].course == Course::Aborting {
            return broken("its deployment is being aborted");
        }
        self.check_number(id, (&stage, &sequence), record)?;
        match (&on, record.cause) {
            (Some(on), Some(at)) => {
                let entry = (stage.clone(), sequence.clone(), on.clone());
                self.check_fired(id, at, &entry, data.map(|data| &**data))?;
                let life = self.lives.get_mut(&id).expect("the caller found it");
                life.yard.due.remove(&(at, entry.clone()));
                life.yard.fired.insert((at, entry.clone()));
                if let On::All(_) = on.on {
                    life.yard.joined.insert(entry, record.seq);
                }
            }
            (Some(_), None) => return broken("it names no cause"),
            (None, _) if record.by == Actor::Seaway => return broken("nobody asked for it"),
            (None, _) => {}
        }
        if data.is_some() {
            let from = record.cause.zip(on);
            self.give_birth(id, record, from, (stage, sequence));
        }
        Ok(())
    }

    /// Runs of one sequence are numbered without gaps, up to the limit.
    fn check_number(
        &self,
        id: DeploymentId,
        (stage, sequence): (&Name, &Name),
        record: &Record,
    ) -> Result<(), Violation> {
        let life = &self.lives[&id];
        let same = life.runs.values().filter(|it| it.stage == *stage && it.sequence == *sequence);
        let next = same.count() as u32 + 1;
        let part = self.paths.table.part(self.paths.table.get(record.target).part);
        let number = part.split_once('#').and_then(|(_, number)| number.parse::<u32>().ok());
        if number != Some(next) {
            return broken(format!("run {number:?} where {next} is due"));
        }
        match (record.fact, record.reason()) {
            (Fact::Finished, _) if next <= Refusal::MAX_RUNS => Ok(()),
            (Fact::Skipped, Some(Reason::TooManyRuns)) if next > Refusal::MAX_RUNS => Ok(()),
            (Fact::Skipped, Some(Reason::TooMuchData)) => Ok(()),
            (fact, reason) => {
                let detail = format!("run {next} is {fact} ({reason:?})");
                Err(Violation::new(Rule::Bounds, detail))
            }
        }
    }

    /// An entry fires once per cause, which it names and takes.
    fn check_fired(
        &mut self,
        id: DeploymentId,
        at: Seq,
        entry: &Entry,
        data: Option<&str>,
    ) -> Result<(), Violation> {
        let life = self.lives.get_mut(&id).expect("the caller found it");
        let Some(happening) = life.yard.happened.get_mut(&at) else {
            return broken(format!("{at} is no end of a run and no event of its deployment"));
        };
        if let (On::Event(_), Some(data), None) = (&entry.2.on, data, &happening.data) {
            happening.data = serde_json::from_str(data).ok();
        }
        let life = &self.lives[&id];
        if life.yard.fired.contains(&(at, entry.clone())) {
            return broken(format!("{} fired already because of {at}", entry.2));
        }
        let stage = &self.structure.stages[&entry.0];
        if !stage.sequences[&entry.1].triggers.contains(&entry.2) {
            return broken(format!("the structure has no entry {} now", entry.2));
        }
        match self.derives(life, at, entry) {
            Some(false) => broken(format!("{} does not take what happened at {at}", entry.2)),
            _ => Ok(()),
        }
    }

    fn give_birth(
        &mut self,
        id: DeploymentId,
        record: &Record,
        from: Option<(Seq, Trigger)>,
        (stage, sequence): (Name, Name),
    ) {
        let stage_target = self.paths.spot(record.target).stage_target;
        let life = self.lives.get_mut(&id).expect("the caller found it");
        let cause = from.as_ref().and_then(|(at, _)| life.yard.happened.get(at));
        let cause_run = cause.and_then(|it| it.run);
        let parent = cause_run.and_then(|run| life.runs.get(&run));
        let failed = cause.is_some_and(|it| it.outcome == Outcome::Fail);
        let (mut since, mut root) = (record.seq, record.target);
        let mut exempt = cause.is_some_and(|it| it.run.is_none());
        if let Some(born) = parent.and_then(|parent| parent.born.as_ref()) {
            since = born.since;
            exempt = born.exempt && parent.is_some_and(|parent| parent.stage == stage);
            if failed && parent.is_some_and(|parent| parent.stage == stage) {
                root = born.root;
            }
        }
        let ended = life.status((stage_target, Kind::StageFinished)).is_settled();
        if ended {
            life.reopen((stage_target, Kind::StageStarted));
            life.reopen((stage_target, Kind::StageFinished));
        }
        life.reopen((TargetTable::ROOT, Kind::PipelineFinished));
        if root != record.target && life.is_inside(root) {
            life.yard.inside.insert(record.target);
        }
        if root != record.target
            && let Some(parent) = cause_run
        {
            self.permits.inherit((id, Some(root)), (parent, record.target));
        }
        let life = self.lives.get_mut(&id).expect("the caller found it");
        let born = Some(Born { from, since, root, exempt, gone: false });
        life.runs.insert(record.target, RunLog { stage, sequence, definition: None, born });
        self.set(id, (record.target, Kind::SequenceTriggered), Status::Passed);
    }

    /// Something happened outside.
    pub(super) fn heard(&mut self, record: &Record) -> Result<(), Violation> {
        let known = record.deployment.filter(|id| self.lives.contains_key(id));
        let (Some(id), Some(Detail::Happened { name, stage, data })) =
            (known, record.detail.as_deref())
        else {
            return broken("an event of no known deployment");
        };
        let data: Value = serde_json::from_str(data).unwrap_or_default();
        let outcome = match data.get("result").and_then(Value::as_str) {
            Some("fail" | "failed") => Outcome::Fail,
            Some("warning") => Outcome::Warning,
            _ => Outcome::Pass,
        };
        let mut events = vec![Event::Domain(name.clone())];
        events.extend(stage.as_ref().map(|at| Event::Domain(format!("{at}.{name}").into())));
        let (at, run, last_task, data) = (stage.clone(), None, None, Some(data));
        self.happened(id, record.seq, Happening { events, at, run, outcome, last_task, data });
        Ok(())
    }

    /// A run of a triggered stage ended by itself.
    pub(super) fn run_ended(&mut self, id: DeploymentId, run: TargetId, record: &Record) {
        let life = &self.lives[&id];
        let Some(log) = life.runs.get(&run).filter(|log| log.born.is_some()) else { return };
        let Some(outcome) = record.outcome else { return };
        let definition = self.definition(log);
        let last_task = definition.and_then(|definition| {
            let tasks = self.tasks(run, &definition);
            let ran = |target: &Option<TargetId>| {
                let status = self.status_of(life, *target, Kind::TaskDone);
                matches!(status, Status::Passed | Status::Failed)
            };
            let last = tasks.iter().rposition(ran)?;
            Some(definition.tasks[last].name.clone())
        });
        let (stage, sequence) = (log.stage.clone(), log.sequence.clone());
        let events = vec![Event::Finished { stage, sequence }];
        let (at, run, data) = (None, Some(run), None);
        self.happened(id, record.seq, Happening { events, at, run, outcome, last_task, data });
    }

    fn happened(&mut self, id: DeploymentId, seq: Seq, happening: Happening) {
        let life = self.lives.get_mut(&id).expect("the caller found it");
        life.yard.happened.insert(seq, happening);
        if life.course == Course::Aborting {
            return;
        }
        let due = self.dues(id, seq, true);
        let life = self.lives.get_mut(&id).expect("the caller found it");
        for entry in due {
            if let On::All(_) = entry.2.on {
                // What was seen last completes a join.
                life.yard.due.retain(|(_, due)| *due != entry);
            }
            life.yard.due.insert((seq, entry));
        }
    }

    /// The entries of the structure as it is now that a cause certainly has to fire.
    pub(super) fn dues(&self, id: DeploymentId, at: Seq, joins: bool) -> Vec<Entry> {
        let life = &self.lives[&id];
        let mut due = Vec::new();
        for (stage, it) in &self.structure.stages {
            for (sequence, definition) in &it.sequences {
                for trigger in &definition.triggers {
                    let entry = (stage.clone(), sequence.clone(), trigger.clone());
                    let joins = joins || matches!(trigger.on, On::Event(_));
                    let fired = life.yard.fired.contains(&(at, entry.clone()));
                    if joins && !fired && self.derives(life, at, &entry) == Some(true) {
                        due.push(entry);
                    }
                }
            }
        }
        due
    }

    /// Whether an entry takes what happened; a join, whether it was the last that was missing.
    /// None where it depends on data that no record has shown yet.
    pub(super) fn derives(&self, life: &Life, at: Seq, entry: &Entry) -> Option<bool> {
        let happening = &life.yard.happened[&at];
        let named = entry.2.events().iter().any(|event| happening.events.contains(event));
        let taken = if named { takes(happening, entry) } else { Some(false) };
        let On::All(events) = &entry.2.on else { return taken };
        if taken == Some(false) {
            return taken;
        }
        let known = self.join_since.get(entry).copied();
        let since = life.yard.joined.get(entry).copied().max(known).unwrap_or_default();
        let mut certain = taken;
        for event in events {
            let seen = life
                .yard
                .happened
                .iter()
                .filter(|(seq, it)| **seq > since && **seq <= at && it.events.contains(event));
            let answers: Vec<Option<bool>> = seen.map(|(_, it)| takes(it, entry)).collect();
            if answers.iter().all(|answer| *answer == Some(false)) {
                return Some(false);
            }
            if !answers.contains(&Some(true)) {
                certain = None;
            }
        }
        certain
    }

    /// Everything that was due has fired before the structure changes or the deployment ends.
    pub(super) fn check_nothing_due(&self, id: DeploymentId) -> Result<(), Violation> {
        let life = &self.lives[&id];
        match life.yard.due.first() {
            Some((at, (stage, sequence, on))) if life.course != Course::Aborting => {
                broken(format!("{at} never triggered {stage}.{sequence} ({on})"))
            }
            _ => Ok(()),
        }
    }

    /// A new structure: runs that have not begun and that it does not derive are gone, and their
    /// causes are looked at again.
    pub(super) fn withdraw(&mut self, seq: Seq) {
        let mut now = Vec::new();
        for (stage, it) in &self.structure.stages {
            for (sequence, definition) in &it.sequences {
                let joins = definition.triggers.iter().filter(|it| matches!(it.on, On::All(_)));
                now.extend(joins.map(|it| (stage.clone(), sequence.clone(), it.clone())));
            }
        }
        self.join_since.retain(|join, _| now.contains(join));
        for join in now {
            self.join_since.entry(join).or_insert(seq);
        }
        let ids: Vec<DeploymentId> = self.lives.keys().copied().collect();
        for id in ids {
            for run in self.underived(id) {
                let life = self.lives.get_mut(&id).expect("the id is from the map");
                let log = life.runs.get_mut(&run).expect("it was just found");
                let Some(born) = &mut log.born else { continue };
                born.gone = true;
                let cause = born.from.as_ref().map(|(at, _)| *at);
                if let Some(at) = cause.filter(|_| life.course != Course::Aborting) {
                    let due = self.dues(id, at, false);
                    let life = self.lives.get_mut(&id).expect("the id is from the map");
                    life.yard.due.extend(due.into_iter().map(|entry| (at, entry)));
                }
            }
        }
    }

    fn underived(&self, id: DeploymentId) -> Vec<TargetId> {
        let life = &self.lives[&id];
        let waiting = life.runs.iter().filter(|(run, log)| {
            let over = life.status((**run, Kind::SequenceFinished)).is_settled();
            let fresh = log.born.as_ref().is_some_and(|born| !born.gone);
            fresh && !over && log.definition.is_none()
        });
        let gone = waiting.filter(|(_, log)| {
            let born = log.born.as_ref().expect("it was just looked at");
            self.still_derives(life, log, born) == Some(false)
        });
        gone.map(|(run, _)| *run).collect()
    }

    /// Whether the structure as it is now still triggers a run.
    pub(super) fn still_derives(&self, life: &Life, log: &RunLog, born: &Born) -> Option<bool> {
        let stage = self.structure.stages.get(&log.stage);
        let stage = stage.filter(|stage| stage.entry == Way::Triggered);
        let Some(definition) = stage.and_then(|it| it.sequences.get(&log.sequence)) else {
            return Some(false);
        };
        let Some((at, on)) = &born.from else { return Some(true) };
        let mut answer = Some(false);
        for trigger in &definition.triggers {
            if trigger == on {
                return Some(true);
            }
            let entry = (log.stage.clone(), log.sequence.clone(), trigger.clone());
            if let On::Event(_) = trigger.on {
                match self.derives(life, *at, &entry) {
                    Some(true) => return Some(true),
                    None => answer = None,
                    Some(false) => {}
                }
            }
        }
        answer
    }

    /// A run that is gone ends, and does nothing else; and only such a run is withdrawn.
    pub(super) fn check_gone(&self, id: DeploymentId, record: &Record) -> Result<(), Violation> {
        let run = self.paths.run_above(record.target);
        let Some(log) = run.and_then(|run| self.lives[&id].runs.get(&run)) else { return Ok(()) };
        let Some(born) = &log.born else { return Ok(()) };
        let ends = record.kind == Kind::SequenceFinished;
        let over = matches!(record.fact, Fact::Cancelled | Fact::Superseded);
        let withdrawn = record.reason() == Some(&Reason::Withdrawn);
        let fits = match (born.gone, withdrawn) {
            (true, _) => ends && over,
            // When the structure changed no record had said yet what data its cause had.
            (false, true) => {
                self.still_derives(&self.lives[&id], log, born).is_none_or(|derives| !derives)
            }
            (false, false) => true,
        };
        let begun = log.definition.is_some();
        if !fits || (withdrawn && begun) {
            let why = if born.gone { "it was withdrawn" } else { "nothing withdrew it" };
            return Err(Violation::new(Rule::Withdrawn, why));
        }
        Ok(())
    }
}

/// Whether an entry takes the result, the place and the data of what happened.
fn takes(happening: &Happening, (stage, _, trigger): &Entry) -> Option<bool> {
    let here = happening.at.as_ref().is_none_or(|at| at == stage);
    let selector = &trigger.selector;
    if !here || !selector.takes(happening.outcome, happening.last_task.as_ref()) {
        return Some(false);
    }
    if selector.data.is_empty() {
        return Some(true);
    }
    let data = happening.data.as_ref()?;
    let holds = selector.data.iter().all(|(path, _)| {
        let found = path.split('.').try_fold(data, |value, part| value.get(part));
        let mut same = selector.data.iter().filter(|(it, _)| it == path);
        same.any(|(_, text)| found.and_then(Value::as_str) == Some(&**text))
    });
    Some(holds)
}
