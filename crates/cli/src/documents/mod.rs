//! Changing what a project is: documents are applied together, planned before, and deleted.

mod apply;
mod changes;
mod delete;
mod kind;
mod owner;
mod plan;
mod sources;

pub(crate) use apply::{ApplyArgs, run as apply};
pub(crate) use delete::{DeleteArgs, run as delete};
pub(crate) use kind::document_kind;
pub(crate) use plan::{PlanArgs, run as plan};
