//! The scheduler: an append-only log of facts, the plan that is walked over it, and permits.
//!
//! Pure and deterministic. Time and ids arrive as arguments; what should happen outside leaves as
//! data. One [`Kernel`] holds one project, and the same code runs live, in replay and in the
//! simulator.

mod checkpoint;
mod command;
mod decide;
mod flow;
mod fold;
mod kernel;
mod record;
pub mod reference;
mod schedule;
mod state;
mod structure;
mod view;

pub use checkpoint::CheckpointError;
pub use command::{Command, Effect, Refusal, Reply, Report, Taken};
pub use flow::merge;
pub use fold::IllegalRecord;
pub use kernel::{Kernel, Pace};
pub use record::{
    Actor, Detail, DocumentEdit, Expression, Operator, Reason, Record, Services, Step, Subscription,
};
pub use structure::{
    Batch, Edit, Entry, Event, Group, On, Policy, Range, Retries, Selector, Sequence, Slot, Stage,
    Structure, StructureChange, StructureError, Task, Trigger, When,
};
pub use view::{
    Affected, Edge, EdgeState, Fate, Foreseen, Message, Plan, RegisteredExecutor, UnderWay,
    Waiting, WaitingJoin, WaitingStep,
};
