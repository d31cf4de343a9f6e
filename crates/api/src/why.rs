use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Why things do not move, as of a position of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    pub project: String,
    pub at: u64,
    pub lines: Vec<WhyLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One thing that waits: on what, since when, and who can end it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyLine {
    pub deployment: Uuid,
    pub service: String,
    pub version: String,
    pub revision: u64,
    /// `shop/beta/delivery#1/test`
    pub target: String,
    /// Stable, for programs: `no-executor`, `in-line`, `approval`.
    pub reason: String,
    pub text: String,
    pub ended_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}
