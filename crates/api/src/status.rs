use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// What is where: services by stages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub project: String,
    /// The position of the log that this is as of.
    pub at: u64,
    pub time: String,
    /// The stages in the order of the shipyard.
    pub stages: Vec<String>,
    pub rows: Vec<Row>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    pub service: String,
    /// One for each stage.
    pub cells: Vec<Cell>,
}

/// A service in a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// What is there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Place>,
    /// The latest that failed there, if it is newer than what is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Place>,
    /// On its way through, oldest first: at most a few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moving: Vec<Place>,
    /// How many are on their way in all.
    #[serde(default)]
    pub count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    pub version: String,
    pub revision: u64,
    pub deployment: Uuid,
}
