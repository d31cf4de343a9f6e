use seaway_model::{
    Attempt, DeploymentId, Digest, Fact, Kind, Name, Outcome, Revision, Seq, TargetId, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{ChainBreak, ChainCheck, Row};

/// The only version of the format so far.
const VERSION: u32 = 1;

/// No database counts further, and whoever does may not make the program stumble.
const LAST_BASE: Seq = Seq(1 << 62);

/// Writes the lines of an archive, each a JSON object: where the records begin, one line per
/// record, and where they end. A file without its last line is one that nobody has finished.
#[derive(Debug)]
pub struct ArchiveText {
    base: ChainCheck,
    chain: ChainCheck,
}

impl ArchiveText {
    /// `base` is what the first record follows.
    #[must_use]
    pub fn new(base: ChainCheck) -> Self {
        Self { base, chain: base }
    }

    /// The first line.
    #[must_use]
    pub fn begin(&self, project: &Name) -> String {
        let (project, base) = (project.clone(), self.base.into());
        line(&Begin { archive: Origin { version: VERSION, project, base } })
    }

    /// The line of the next record, which is checked; `path` is the text of its target.
    pub fn record(&mut self, row: &Row, path: &str) -> Result<String, ArchiveBreak> {
        self.chain.check(row, &path)?;
        let data = row.data.as_deref().map(serde_json::from_str::<&RawValue>).transpose();
        let data =
            data.map_err(|source| ArchiveBreak::Unreadable { line: self.records() + 1, source })?;
        Ok(line(&Archived {
            seq: row.seq,
            at: row.at,
            deployment: row.deployment,
            target: path.into(),
            revision: row.revision,
            kind: row.kind,
            fact: row.fact,
            attempt: row.attempt,
            n: row.n,
            outcome: row.outcome,
            data: data.map(ToOwned::to_owned),
            cause: row.cause,
            by: (&*row.by).into(),
            hash: row.hash.to_string(),
        }))
    }

    /// The last line.
    #[must_use]
    pub fn end(&self) -> String {
        line(&End { end: Ended { records: self.records(), last: self.chain.into() } })
    }

    /// Position of the last record so far.
    #[must_use]
    pub fn last(&self) -> Seq {
        self.chain.seq
    }

    fn records(&self) -> u64 {
        self.chain.seq.0 - self.base.seq.0
    }
}

fn line(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect("it has only string keys");
    text.push('\n');
    text
}

#[derive(Debug, Serialize, Deserialize)]
struct Begin {
    archive: Origin,
}

#[derive(Debug, Serialize, Deserialize)]
struct Origin {
    version: u32,
    project: Name,
    base: Link,
}

#[derive(Debug, Serialize, Deserialize)]
struct End {
    end: Ended,
}

#[derive(Debug, Serialize, Deserialize)]
struct Ended {
    records: u64,
    last: Link,
}

/// A position and the hash of the record there.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Link {
    seq: Seq,
    hash: String,
}

impl From<ChainCheck> for Link {
    fn from(ChainCheck { seq, hash }: ChainCheck) -> Self {
        Self { seq, hash: hash.to_string() }
    }
}

/// A record with everything that its hash covers. Its time is in microseconds since 1970.
#[derive(Debug, Serialize, Deserialize)]
struct Archived {
    seq: Seq,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deployment: Option<DeploymentId>,
    target: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<Revision>,
    kind: Kind,
    fact: Fact,
    attempt: Attempt,
    n: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<Seq>,
    by: Box<str>,
    hash: String,
}

impl Archived {
    /// The row as it was stored, except for the number of its target, which no hash covers.
    fn row(&self) -> Option<Row> {
        Some(Row {
            seq: self.seq,
            at: self.at,
            deployment: self.deployment,
            target: TargetId(0),
            revision: self.revision,
            kind: self.kind,
            fact: self.fact,
            attempt: self.attempt,
            n: self.n,
            outcome: self.outcome,
            data: self.data.as_deref().map(|data| data.get().into()),
            cause: self.cause,
            by: (&*self.by).into(),
            hash: digest(&self.hash)?,
        })
    }
}

fn digest(hex: &str) -> Option<Digest> {
    let mut bytes = [0; 32];
    if hex.len() != 2 * bytes.len() || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        let pair = str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(Digest(bytes))
}

/// Why a file is not an archive as it was written.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveBreak {
    #[error("line {line} is not one of an archive; check that the file is one and not damaged")]
    Unreadable { line: u64, source: serde_json::Error },
    #[error("line {line} has a hash that is not one; the file is damaged")]
    NoHash { line: u64 },
    #[error("the archive has version {0}, which this program does not know; use a newer one")]
    Version(u32),
    #[error(transparent)]
    Chain(#[from] ChainBreak),
    #[error("the archive ends with {last}, but its last line tells of other records")]
    OtherEnd { last: Seq },
    #[error("line {line} follows the last line of the archive; the file was changed")]
    BehindTheEnd { line: u64 },
    #[error("the archive has no last line: it was never finished, or it was cut off")]
    Incomplete,
}

/// What an archive holds, once it was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveContent {
    pub project: Name,
    /// The records from `first` to `last`, both included.
    pub first: Seq,
    pub last: Seq,
    /// Hash of the last record.
    pub hash: Digest,
}

/// Checks an archive line by line.
#[derive(Debug, Default)]
pub struct ArchiveCheck {
    line: u64,
    state: Reached,
}

#[derive(Debug, Default)]
enum Reached {
    #[default]
    Nothing,
    Records {
        project: Name,
        first: Seq,
        chain: ChainCheck,
    },
    End(ArchiveContent),
}

impl ArchiveCheck {
    /// The next line, with or without what ends it.
    pub fn line(&mut self, text: &str) -> Result<(), ArchiveBreak> {
        self.line += 1;
        let line = self.line;
        let unreadable = |source| ArchiveBreak::Unreadable { line, source };
        self.state = match std::mem::take(&mut self.state) {
            Reached::Nothing => {
                let Begin { archive } = serde_json::from_str(text).map_err(unreadable)?;
                if archive.version != VERSION {
                    return Err(ArchiveBreak::Version(archive.version));
                }
                let hash = digest(&archive.base.hash).ok_or(ArchiveBreak::NoHash { line })?;
                let chain = ChainCheck { seq: archive.base.seq, hash };
                if chain.seq > LAST_BASE {
                    return Err(unreadable(serde::de::Error::custom("no log is that long")));
                }
                Reached::Records { project: archive.project, first: chain.seq.next(), chain }
            }
            Reached::Records { project, first, chain } if text.starts_with("{\"end\":") => {
                let End { end } = serde_json::from_str(text).map_err(unreadable)?;
                let (last, hash) = (chain.seq, chain.hash);
                if end.last != chain.into() || end.records != last.next().0 - first.0 {
                    return Err(ArchiveBreak::OtherEnd { last });
                }
                Reached::End(ArchiveContent { project, first, last, hash })
            }
            Reached::Records { project, first, mut chain } => {
                let archived: Archived = serde_json::from_str(text).map_err(unreadable)?;
                let row = archived.row().ok_or(ArchiveBreak::NoHash { line })?;
                chain.check(&row, &archived.target)?;
                Reached::Records { project, first, chain }
            }
            Reached::End(_) => return Err(ArchiveBreak::BehindTheEnd { line }),
        };
        Ok(())
    }

    /// There are no more lines.
    pub fn finish(self) -> Result<ArchiveContent, ArchiveBreak> {
        match self.state {
            Reached::End(content) => Ok(content),
            Reached::Nothing | Reached::Records { .. } => Err(ArchiveBreak::Incomplete),
        }
    }
}
