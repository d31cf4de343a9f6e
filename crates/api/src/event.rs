use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

/// A CloudEvent 1.0 in its structured JSON form, as the control plane sends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CloudEvent {
    pub specversion: String,
    /// For a task: what its answers name as `triggeredid`.
    pub id: String,
    pub source: String,
    #[serde(rename = "type")]
    pub ty: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datacontenttype: Option<String>,
    /// The deployment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shkeptncontext: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggeredid: Option<String>,
    /// `project`, `stage`, `service`, `version`, and whatever was added on the way.
    #[schema(value_type = Object)]
    pub data: Map<String, Value>,
}

/// An event was taken in, and is durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// The deployment that it belongs to.
    pub context: Uuid,
    /// The position in the project's log as of which it counts.
    pub at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

/// The answers to a batch of events, in their order: `status` as if each had come alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BatchAccepted {
    pub status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<crate::Problem>,
}
