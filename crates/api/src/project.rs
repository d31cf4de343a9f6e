use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    pub name: String,
    /// Position, hash and time of the last record.
    pub head: u64,
    pub hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    pub deployments: u64,
    /// In the order of the shipyard. Not part of a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// Whether a service that is not known is made when it is first delivered. A list does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_services: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    pub name: String,
    pub sequences: Vec<String>,
}

/// Ended deployments were moved to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Archived {
    pub file: String,
    pub records: u64,
    /// The last record in the file, and its hash: the chain goes on from there.
    pub last: u64,
    pub hash: String,
}
