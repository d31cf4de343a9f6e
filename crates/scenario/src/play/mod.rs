//! Plays a scenario: the kernel decides, and everything around it is a script on virtual time.

mod agenda;
pub(crate) mod find;
mod judge;
mod outcome;
mod player;
mod script;
mod troupe;
mod work;
mod yards;

pub use outcome::{Ended, Held, Played, Stopped, Waits};
pub use player::{MOST_RECORDS, play};
pub(crate) use player::{Player, START};
pub use yards::Yards;
