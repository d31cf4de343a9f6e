//! Stored records, and the only place that knows their JSON and their hash.

mod append;
mod archive;
mod chain;
mod event;
mod row;
mod shown;
mod span;

pub use append::{Append, DeploymentStart, KeptAnswer, StoredTarget};
pub use archive::{ArchiveBreak, ArchiveCheck, ArchiveContent, ArchiveText};
pub use chain::{ChainBreak, ChainCheck, Linked};
pub use event::RecordEvent;
pub use row::{Row, RowError};
pub use shown::ShownRecord;
pub use span::SpanEdit;
