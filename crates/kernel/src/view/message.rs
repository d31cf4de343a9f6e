use seaway_model::{DeploymentId, ExecutorName, Fact, Kind, Level, Name, Outcome};
use serde_json::{Map, Value, json};

use crate::Kernel;
use crate::flow::object;
use crate::fold::Location;
use crate::record::{Detail, Record};
use crate::state::{Deployment, Spot};

/// What a record of a triggered stage says to the outside, before it has an envelope.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// `<stage>.<sequence>.triggered|started|finished` or
    /// `<task>.triggered|started|status.changed|finished`.
    pub name: String,
    pub deployment: DeploymentId,
    pub stage: Name,
    pub service: Name,
    /// Whoever said it; none for the control plane itself.
    pub executor: Option<ExecutorName>,
    pub outcome: Option<Outcome>,
    pub data: Value,
}

impl Kernel {
    /// The message of a record that was just folded.
    #[must_use]
    pub fn message(&self, record: &Record) -> Option<Message> {
        let deployment = self.deployments.get(&record.deployment?)?;
        let node = self.targets.try_get(record.target)?;
        match (node.level, record.kind) {
            (Level::Run, _) => self.sequence_message(deployment, record),
            (Level::Task, Kind::TaskDone) if record.fact == Fact::Dispatched => {
                self.task_message(deployment, record)
            }
            (Level::Executor, Kind::TaskDone) => self.share_message(deployment, record),
            _ => None,
        }
    }

    fn sequence_message(&self, deployment: &Deployment, record: &Record) -> Option<Message> {
        let verb = match (record.kind, record.fact) {
            (Kind::SequenceTriggered, Fact::Finished) => "triggered",
            (Kind::SequenceStarted, Fact::Finished) => "started",
            (Kind::SequenceFinished, _) => "finished",
            _ => return None,
        };
        let key = deployment.derived.run_of.get(&record.target)?;
        if !deployment.stages[&key.stage].triggered {
            return None;
        }
        let stage = self.world.stages.name(key.stage);
        let sequence = self.world.sequences.name(key.sequence);
        let scope = self.scope(deployment, stage);
        let data = match verb {
            "triggered" => deployment.runs[key].flow.at_start(scope),
            _ => {
                let mut data = Value::Object(Map::new());
                scope.put(&mut data);
                ended(&mut data, record);
                data
            }
        };
        let name = format!("{stage}.{sequence}.{verb}");
        Some(self.put(deployment, stage, (name, None), record, data))
    }

    fn task_message(&self, deployment: &Deployment, record: &Record) -> Option<Message> {
        deployment.offers.get(&(record.target, record.kind))?;
        let spot = self.spot(deployment, record)?;
        let task = self.task_of(deployment.id, (record.target, record.kind))?;
        let stage = self.world.stages.name(spot.stage()?);
        let data = self.task_data(deployment, spot);
        Some(self.put(deployment, stage, (format!("{}.triggered", task.name), None), record, data))
    }

    fn spot(&self, deployment: &Deployment, record: &Record) -> Option<Spot> {
        match self.locate(deployment, record.target, record.kind)? {
            Location::Spot(spot) => Some(spot),
            Location::Attic => None,
        }
    }

    fn share_message(&self, deployment: &Deployment, record: &Record) -> Option<Message> {
        let verb = match record.fact {
            Fact::Started => "started",
            Fact::Changed => "status.changed",
            Fact::Finished | Fact::Failed => "finished",
            _ => return None,
        };
        let node = self.targets.get(record.target);
        let run = self.targets.get(self.targets.get(node.parent).parent);
        let stage = self.world.stages.find(self.targets.part(self.targets.get(run.parent).part))?;
        let stage = self.world.stages.name(stage);
        let task = self.targets.part(self.targets.get(node.parent).part);
        let task = task.split_once(':').map_or(task, |(task, _)| task);
        let executor = ExecutorName(self.targets.part(node.part).trim_start_matches('@').into());
        let mut data = match record.detail.as_deref() {
            Some(Detail::Answer(text)) => Value::Object(object(text).unwrap_or_default()),
            _ => Value::Object(Map::new()),
        };
        self.scope(deployment, stage).put(&mut data);
        if verb == "finished" {
            ended(&mut data, record);
        }
        let name = format!("{task}.{verb}");
        Some(self.put(deployment, stage, (name, Some(executor)), record, data))
    }

    fn put(
        &self,
        deployment: &Deployment,
        stage: &Name,
        (name, executor): (String, Option<ExecutorName>),
        record: &Record,
        data: Value,
    ) -> Message {
        Message {
            name,
            deployment: deployment.id,
            stage: stage.clone(),
            service: deployment.service.clone(),
            executor,
            outcome: record.outcome,
            data,
        }
    }
}

/// How something ended, in words that existing clients know.
fn ended(data: &mut Value, record: &Record) {
    let (result, status) = match (record.fact, record.outcome) {
        (Fact::Finished | Fact::Failed, Some(outcome)) => (outcome.as_str(), "succeeded"),
        (Fact::Cancelled, _) => ("pass", "aborted"),
        (Fact::Superseded, _) => ("fail", "unknown"),
        _ => return,
    };
    data["result"] = json!(result);
    if data.get("status").is_none() {
        data["status"] = json!(status);
    }
}
