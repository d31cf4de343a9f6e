use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What went wrong and what to do about it, as `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// A link to the page that explains the code.
    #[serde(rename = "type")]
    pub about: String,
    /// The same for every problem of this code.
    pub title: String,
    pub status: u16,
    /// Stable, for programs: `stale-fence`, `unknown-project`.
    pub code: String,
    /// What happened here, and what to do.
    pub detail: String,
    /// Where in the request, when several things are wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<InvalidField>,
    /// Names the request in the logs of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InvalidField {
    /// A file with line and column, or the name of a field.
    pub at: String,
    pub detail: String,
}
