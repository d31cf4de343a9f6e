mod check;
mod edit;
mod types;

pub use check::StructureError;
pub use types::{
    Batch, Edit, Group, Policy, Range, Sequence, Slot, Stage, Structure, StructureChange, Task,
    When,
};
