mod between;
mod check;
mod edit;
mod from_shipyard;
mod lcs;
mod trigger;
mod types;

pub use check::StructureError;
pub(crate) use lcs::introduced;
pub use trigger::{Event, On, Selector, Trigger};
pub use types::{
    Batch, Edit, Entry, Group, Policy, Range, Retries, Sequence, Slot, Stage, Structure,
    StructureChange, Task, When,
};
