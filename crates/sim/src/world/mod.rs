//! One simulated world: a project with its owners, a disk, executors, people, and faults.

mod agents;
mod commit;
mod crew;
mod dice;
mod disk;
mod edits;
mod event;
mod faults;
mod heal;
mod life;
mod owner;
mod papers;
mod people;
mod seekers;
mod serve;
mod shadow;
mod shape;
mod ships;
mod tally;
mod wishes;
mod yard;

pub use life::{Outcome, run};
pub use tally::{Rare, Tally};
