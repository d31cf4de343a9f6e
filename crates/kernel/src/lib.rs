//! The scheduler: an append-only log of facts, the plan that is walked over it, and permits.
//!
//! Pure and deterministic. Time and ids arrive as arguments; what should happen outside leaves as
//! data. One [`Kernel`] holds one project, and the same code runs live, in replay and in the
//! simulator.

mod command;
mod kernel;
mod record;
mod structure;

pub use command::{Command, Effect, Refusal, Reply, Report};
pub use kernel::{CheckpointError, IllegalRecord, Kernel, Pace};
pub use record::{Actor, Detail, Reason, Record, Step};
pub use structure::{
    Batch, Edit, Group, Policy, Range, Sequence, Slot, Stage, Structure, StructureChange,
    StructureError, Task, When,
};
