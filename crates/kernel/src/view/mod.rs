mod edges;
mod frontier;
mod joins;
mod message;
mod waiting;

pub use edges::{Edge, EdgeState};
pub use joins::WaitingJoin;
pub use message::Message;
pub use waiting::{Waiting, WaitingStep};
