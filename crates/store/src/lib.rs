//! Where logs become durable: one narrow contract, kept by SQLite and by PostgreSQL.
//!
//! [`Store`] is what callers use. What a backend must promise is written down in `log_store`;
//! everything that only reads is written once, on top of that contract.

mod answer;
mod archive;
mod board;
mod checkpoint;
mod content;
mod decode;
mod deployments;
mod error;
mod figures;
mod lease;
mod list;
mod log_store;
pub mod postgres;
mod question;
mod read;
mod recorded;
mod shape;
pub mod sqlite;
mod standing;
mod store;
mod token;
mod verify;
mod webhook;

pub use board::ServiceStanding;
pub use deployments::DeploymentStanding;
pub use error::{
    AppendError, ArchiveError, BackupError, OpenError, RestoreError, StoreError, VerifyError,
};
pub use figures::Figures;
pub use lease::{Lease, Owner};
pub use log_store::Receipt;
pub use question::{
    Checkpoint, Ended, Ending, Filter, Head, Listed, Order, Page, Precedents, Standing, Stats,
    Verified,
};
pub use store::Store;
pub use token::StoredToken;
pub use webhook::{Delivery, DeliveryOutcome};
