//! What Keptn does, as far as a shipyard can tell, and what happens here.

mod queue;
mod results;
mod semantics;
mod triggers;
