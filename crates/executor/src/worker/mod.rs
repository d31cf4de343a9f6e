//! The worker: claims tasks, carries them out, and keeps their leases meanwhile.

mod answer;
mod attend;
mod backoff;
mod error;
mod keep;
mod options;
mod project;
mod reaction;
mod share;
mod stop;
mod summary;
mod supervise;

pub use error::WorkerError;
pub use options::{Projects, WorkerOptions};
pub use stop::Stop;
pub use summary::Summary;
pub use supervise::Worker;
