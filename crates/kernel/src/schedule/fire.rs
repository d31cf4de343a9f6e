use seaway_model::{DeploymentId, Fact, Kind, Outcome, Seq, TargetTable};
use serde_json::Value;

use super::emit::{Draft, Pen};
use crate::flow::{self, MAX_PAYLOAD, object};
use crate::record::{Actor, Detail, Reason};
use crate::state::{Cause, Course, Deployment, Entry, RunKey};
use crate::structure::{On, Trigger};
use crate::{Kernel, Refusal};

impl Kernel {
    /// Fires the next trigger of a deployment, if one is due. Tells whether a record was made.
    pub(super) fn fire_next(&mut self, id: DeploymentId, pen: &mut Pen<'_>) -> bool {
        let deployment = &self.deployments[&id];
        let Some((&at, due)) = deployment.derived.firing.first_key_value() else { return false };
        if let Course::Aborting { .. } = deployment.course {
            let deployment = self.deployments.get_mut(&id).expect("it was just found");
            deployment.derived.firing.clear();
            return false;
        }
        self.fire(id, at, due[0], pen);
        true
    }

    /// Fires everything that is due, so that a change of the structure finds nothing half done.
    pub(crate) fn fire_all(&mut self, pen: &mut Pen<'_>) {
        let mut pen = Pen { now: pen.now, by: &Actor::Seaway, out: pen.out };
        let due = self.deployments.values().filter(|it| !it.derived.firing.is_empty());
        let ids: Vec<DeploymentId> = due.map(|it| it.id).collect();
        for id in ids {
            while self.fire_next(id, &mut pen) {}
        }
    }

    fn fire(&mut self, id: DeploymentId, at: Seq, entry: Entry, pen: &mut Pen<'_>) {
        let deployment = &self.deployments[&id];
        let trigger = self.world.trigger(entry).expect("it is due").clone();
        let (stage, sequence, _) = entry;
        let number = deployment.next_number(stage, sequence);
        let data = self.data_for(deployment, at, entry, &trigger);
        let refusal = match number {
            _ if data.len() > MAX_PAYLOAD => Some(Reason::TooMuchData),
            number if number > Refusal::MAX_RUNS => Some(Reason::TooManyRuns),
            _ => None,
        };
        let key = RunKey { stage, sequence, number };
        let draft = match refusal {
            None => {
                let detail = Detail::Triggered { on: Some(trigger), data: data.into() };
                let outcome = Some(Outcome::Pass);
                Draft { outcome, detail: Some(Box::new(detail)), ..Draft::new(Fact::Finished) }
            }
            Some(because) => {
                let n = deployment.refused + 1;
                let detail = Some(Box::new(Detail::Refused { on: trigger, because }));
                Draft { n, detail, ..Draft::new(Fact::Skipped) }
            }
        };
        self.trigger_run(id, key, Draft { cause: Some(at), ..draft }, pen);
    }

    /// Writes that a run was triggered.
    pub(crate) fn trigger_run(
        &mut self,
        id: DeploymentId,
        key: RunKey,
        draft: Draft,
        pen: &mut Pen<'_>,
    ) {
        let seq = self.head.next();
        let stage = self.targets.intern_part(self.world.stages.name(key.stage).as_str());
        let stage = self.targets.intern(TargetTable::ROOT, stage, seq);
        let run = format!("{}#{}", self.world.sequences.name(key.sequence), key.number);
        let part = self.targets.intern_part(&run);
        let target = self.targets.intern(stage, part, seq);
        self.emit_at(id, (target, Kind::SequenceTriggered), draft, pen);
    }

    /// What a run is given: the data of its cause, or of everything that a join waited for.
    fn data_for(
        &self,
        deployment: &Deployment,
        at: Seq,
        entry: Entry,
        trigger: &Trigger,
    ) -> String {
        let On::All(events) = &trigger.on else {
            return deployment.causes[&at].data.to_string();
        };
        let mut seen: Vec<(Seq, &Cause)> = events
            .iter()
            .filter_map(|event| deployment.joins(&self.world, event, entry, trigger))
            .collect();
        seen.sort_by_key(|(at, _)| *at);
        let mut data = Value::Object(Default::default());
        for (_, cause) in seen {
            flow::merge(&mut data, Value::Object(object(&cause.data).unwrap_or_default()));
        }
        data.to_string()
    }
}

impl Deployment {
    /// The number of the next run of a sequence.
    pub(crate) fn next_number(&self, stage: u32, sequence: u32) -> u32 {
        self.numbers.get(&(stage, sequence)).map_or(1, |last| last + 1)
    }

    /// Remembers the number of a run, also when the run is forgotten.
    pub(crate) fn note_number(&mut self, key: RunKey) {
        let last = self.numbers.entry((key.stage, key.sequence)).or_default();
        *last = key.number.max(*last);
    }
}
