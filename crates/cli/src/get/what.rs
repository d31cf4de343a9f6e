use std::convert::Infallible;
use std::str::FromStr;

use crate::documents::document_kind;

/// What a person wants to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Projects,
    Stages,
    Services,
    Deployments,
    Executors,
    /// All documents.
    Documents,
    /// Those of one kind.
    Kind(String),
}

impl FromStr for What {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match &*text.to_lowercase() {
            "project" | "projects" => Self::Projects,
            "stage" | "stages" => Self::Stages,
            "service" | "services" => Self::Services,
            "deployment" | "deployments" => Self::Deployments,
            "executor" | "executors" => Self::Executors,
            "document" | "documents" => Self::Documents,
            _ => Self::Kind(document_kind(text)),
        })
    }
}
