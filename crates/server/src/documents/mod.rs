//! Documents that people apply: YAML in, one atomic change of the project out.

mod content;
mod inline;
mod kind;
mod project;
mod read;
mod resource;

pub(crate) use content::content_digest;
pub(crate) use kind::{PROJECT, SHIPYARD, WEBHOOK, kind};
pub(crate) use read::{Reading, read};
pub(crate) use resource::{Level, RESOURCE, check_path};
