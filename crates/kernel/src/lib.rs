//! The scheduler: an append-only log of facts, the plan that is walked over it, and permits.
//!
//! Pure and deterministic. Time and ids arrive as arguments; what should happen outside leaves as
//! data. One [`Kernel`] holds one project, and the same code runs live, in replay and in the
//! simulator.

mod checkpoint;
mod command;
mod decide;
mod fold;
mod kernel;
mod record;
pub mod reference;
mod schedule;
mod state;
mod structure;
mod view;

pub use checkpoint::CheckpointError;
pub use command::{Command, Effect, Refusal, Reply, Report};
pub use fold::IllegalRecord;
pub use kernel::{Kernel, Pace};
pub use record::{Actor, Detail, Reason, Record, Step};
pub use structure::{
    Batch, Edit, Group, Policy, Range, Sequence, Slot, Stage, Structure, StructureChange,
    StructureError, Task, When,
};
pub use view::{Edge, EdgeState, Waiting, WaitingStep};
