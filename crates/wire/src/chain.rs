use std::fmt::{self, Display, Write};
use std::sync::{Arc, LazyLock};

use seaway_model::{Digest, Seq};
use sha2::{Digest as _, Sha256};

use crate::Row;

/// The actor of most records, shared so that it is not allocated for each.
pub(crate) fn seaway() -> Arc<str> {
    static SEAWAY: LazyLock<Arc<str>> = LazyLock::new(|| "seaway".into());
    SEAWAY.clone()
}

/// Writes formatted text straight into a byte buffer.
struct Bytes<'a>(&'a mut Vec<u8>);

impl Write for Bytes<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Hash of a row and its predecessor's hash.
///
/// The input is fixed for ever: a version byte, the predecessor's hash, then every column in the
/// order of [`Row`]. Integers are little-endian, an absent value is 0 and a present one follows a
/// 1, texts follow their length.
pub(crate) fn hash(row: &Row, path: &dyn Display, previous: Digest) -> Digest {
    const VERSION: u8 = 1;
    let mut bytes = Vec::with_capacity(256);
    bytes.push(VERSION);
    bytes.extend_from_slice(&previous.0);
    bytes.extend_from_slice(&row.seq.0.to_le_bytes());
    bytes.extend_from_slice(&row.at.0.to_le_bytes());
    optional(&mut bytes, row.deployment.map(|id| id.0.into_bytes()));
    let start = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    write!(Bytes(&mut bytes), "{path}").expect("writing to memory does not fail");
    let length = u32::try_from(bytes.len() - start - 4).expect("paths are short");
    bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    optional(&mut bytes, row.revision.map(|revision| revision.0.to_le_bytes()));
    bytes.extend_from_slice(&[row.kind.code(), row.fact.code()]);
    bytes.extend_from_slice(&row.attempt.0.to_le_bytes());
    bytes.extend_from_slice(&row.n.to_le_bytes());
    bytes.push(row.outcome.map_or(0, |outcome| outcome.code()));
    text(&mut bytes, row.data.as_deref());
    optional(&mut bytes, row.cause.map(|cause| cause.0.to_le_bytes()));
    text(&mut bytes, Some(&row.by));
    Digest(Sha256::digest(&bytes).into())
}

fn optional<const N: usize>(bytes: &mut Vec<u8>, value: Option<[u8; N]>) {
    match value {
        Some(value) => {
            bytes.push(1);
            bytes.extend_from_slice(&value);
        }
        None => bytes.push(0),
    }
}

fn text(bytes: &mut Vec<u8>, value: Option<&str>) {
    optional(bytes, value.map(|text| (text.len() as u64).to_le_bytes()));
    bytes.extend_from_slice(value.unwrap_or_default().as_bytes());
}

/// Checks rows in order, each against the one before it.
#[derive(Clone, Copy, Debug)]
pub struct ChainCheck {
    pub seq: Seq,
    pub hash: Digest,
}

/// Where a log stops being what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainBreak {
    #[error("record {expected} is missing: {found} follows {}", expected.0 - 1)]
    Gap { expected: Seq, found: Seq },
    #[error(
        "record {seq} or one before it was changed after it was written: its hash is {found}, \
         but {expected} follows from its content"
    )]
    Changed { seq: Seq, expected: Digest, found: Digest },
}

impl ChainCheck {
    #[must_use]
    pub fn from_genesis() -> Self {
        Self { seq: Seq(0), hash: Digest::GENESIS }
    }

    pub fn check(&mut self, row: &Row, path: &dyn Display) -> Result<(), ChainBreak> {
        let expected = self.seq.next();
        if row.seq != expected {
            return Err(ChainBreak::Gap { expected, found: row.seq });
        }
        let expected = hash(row, path, self.hash);
        if row.hash != expected {
            return Err(ChainBreak::Changed { seq: row.seq, expected, found: row.hash });
        }
        *self = Self { seq: row.seq, hash: row.hash };
        Ok(())
    }
}

/// A record with the hash of the one before it, for reading records that do not follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    pub row: Row,
    pub previous: Digest,
}

impl Linked {
    /// Picks records out of a log that is at hand as a whole, from its first record on.
    pub fn pick(log: &[Row], wanted: impl Fn(&Row) -> bool) -> Vec<Self> {
        let before = std::iter::once(Digest::GENESIS).chain(log.iter().map(|row| row.hash));
        let linked = log.iter().zip(before).filter(|(row, _)| wanted(row));
        linked.map(|(row, previous)| Self { row: row.clone(), previous }).collect()
    }

    /// Whether the record is the one that was written after its predecessor.
    pub fn check(&self, path: &dyn Display) -> Result<(), ChainBreak> {
        let seq = Seq(self.row.seq.0.saturating_sub(1));
        ChainCheck { seq, hash: self.previous }.check(&self.row, path)
    }
}
