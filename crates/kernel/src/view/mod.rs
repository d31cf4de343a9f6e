mod documents;
mod edges;
mod executors;
mod frontier;
mod joins;
mod message;
mod plan;
mod under_way;
mod waiting;

pub use edges::{Edge, EdgeState};
pub use executors::RegisteredExecutor;
pub use joins::WaitingJoin;
pub use message::Message;
pub use plan::{Affected, Fate, Foreseen, Plan};
pub use under_way::UnderWay;
pub use waiting::{Waiting, WaitingStep};
