//! Whoever is told what a log says: webhooks and traces follow it from where they have come to.
//!
//! One task looks at the projects that this process owns and at what their documents ask for, and
//! keeps a follower for each. A follower is slow or fails for itself alone.

mod followed;
mod hub;
mod look;
mod notices;
mod progress;
mod tail;

pub(crate) use hub::follow_projects;
pub(crate) use notices::Notices;
pub(crate) use progress::Progress;
pub(crate) use tail::{Tail, pause_after};
