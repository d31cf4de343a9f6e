//! Several servers on one database: each project is owned by one of them, and all answer for all.

mod forward;
mod ownership;
mod takeover;

pub(crate) use forward::{FORWARDED, Forwarder};
pub(crate) use ownership::{Ownership, Whereabouts};
pub(crate) use takeover::take_over;
