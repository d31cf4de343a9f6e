mod edges;
mod frontier;
mod waiting;

pub use edges::{Edge, EdgeState};
pub use waiting::{Waiting, WaitingStep};
