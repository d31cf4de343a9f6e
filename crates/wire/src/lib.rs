//! Stored records, and the only place that knows their JSON and their hash.

mod append;
mod chain;
mod row;
mod shown;
mod span;

pub use append::{Append, DeploymentStart, StoredTarget};
pub use chain::{ChainBreak, ChainCheck, Linked};
pub use row::{Row, RowError};
pub use shown::ShownRecord;
pub use span::SpanEdit;
