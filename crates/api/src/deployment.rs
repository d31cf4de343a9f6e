use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

/// Starts a sequence, in a deployment that is new or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trigger {
    pub stage: String,
    pub sequence: String,
    pub service: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub data: Option<Map<String, Value>>,
    /// The deployment that it belongs to; none: a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<Uuid>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Triggered {
    pub deployment: Uuid,
    pub revision: u64,
    pub at: u64,
}

/// A command was carried out, and is durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// The position in the project's log as of which it counts.
    pub at: u64,
}

/// Which failed task to try again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Retry {
    /// The path of the step; none: the one that failed, if there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Laid over the data before the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub data: Option<Map<String, Value>>,
}

/// Counts a task as done without doing it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Skip {
    pub reason: String,
    /// The path of the step; none: the one that waits or failed, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// What a person says to an `approval`, or to reject it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Verdict {
    /// The path of the task; none: the one that waits, if there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// Where a deployment is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Located {
    pub project: String,
    pub deployment: Uuid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    pub id: Uuid,
    pub service: String,
    pub version: String,
    pub revision: u64,
    /// The record that it began with.
    pub since: u64,
    pub state: DeploymentState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeploymentState {
    InProgress,
    Paused,
    Finished,
    Failed,
    Aborted,
    Superseded,
}

/// A deployment with its runs and their tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentView {
    #[serde(flatten)]
    pub deployment: Deployment,
    pub started: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// `pass`, `warning` or `fail`, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    pub runs: Vec<Run>,
    /// The last record that this is as of.
    pub at: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// `shop/beta/delivery#1`
    pub target: String,
    pub stage: String,
    pub sequence: String,
    pub number: u32,
    pub state: StepState,
    pub tasks: Vec<StepView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    pub target: String,
    pub name: String,
    pub state: StepState,
    pub attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Who did it, or is doing it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executors: Vec<String>,
    /// Why it was skipped or cancelled, or what its executor said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepState {
    /// Triggered, and not yet begun.
    Waiting,
    Running,
    Passed,
    Warned,
    Failed,
    Skipped,
    Cancelled,
    Superseded,
}
