//! One writer per project: mailbox, kernel, group commit, effects and timers.
//!
//! [`core`] holds every decision as a synchronous state machine without clock or I/O. [`Engine`]
//! drives it with tokio and a store; the simulator drives the same code.

pub mod core;

mod checkpoints;
mod engine;
mod handle;
mod leases;
mod live;
mod loading;
mod loss;
mod mailbox;
mod outbox;
mod project;
mod subscription;

pub use core::{Obstacle, Overloaded, RequestError};
pub use engine::{Engine, Notice, Options};
pub use handle::ProjectHandle;
pub use subscription::{Subscription, SubscriptionError};
