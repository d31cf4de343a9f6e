//! Acknowledged is durable: the real binary is killed again and again, and its log is compared with
//! what it had acknowledged.

mod ledger;
mod postgres;
mod random;
mod sqlite;
mod victim;
