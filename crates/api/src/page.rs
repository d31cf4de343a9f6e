use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A piece of a list. Only a missing `next` means that there is no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The `cursor` of the next piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
