//! Where logs become durable: one narrow contract, kept by SQLite and by PostgreSQL.
//!
//! [`Store`] is what callers use. What a backend must promise is written down in `log_store`;
//! everything that only reads is written once, on top of that contract.

mod checkpoint;
mod decode;
mod error;
mod list;
mod log_store;
pub mod postgres;
mod question;
mod read;
mod shape;
pub mod sqlite;
mod standing;
mod store;
mod verify;

pub use error::{AppendError, BackupError, OpenError, StoreError, VerifyError};
pub use log_store::Receipt;
pub use question::{
    Checkpoint, Ended, Ending, Filter, Head, Listed, Order, Page, Precedents, Standing, Stats,
    Verified,
};
pub use store::Store;
