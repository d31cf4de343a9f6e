//! One file for each area of the interface; `table` knows all of them.

pub(crate) mod apply;
pub(crate) mod deployments;
pub(crate) mod documents;
pub(crate) mod events;
pub(crate) mod executors;
pub(crate) mod health;
pub(crate) mod projects;
pub(crate) mod records;
pub(crate) mod resources;
pub(crate) mod status;
pub(crate) mod steer;
pub(crate) mod stream;
pub(crate) mod tokens;
pub(crate) mod upkeep;
pub(crate) mod webhooks;
pub(crate) mod why;
