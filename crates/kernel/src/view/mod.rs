mod edges;
mod frontier;
mod joins;
mod message;
mod plan;
mod waiting;

pub use edges::{Edge, EdgeState};
pub use joins::WaitingJoin;
pub use message::Message;
pub use plan::{Affected, Fate, Foreseen, Plan};
pub use waiting::{Waiting, WaitingStep};
