use seaway_model::{DeploymentId, Digest, Fact, Kind, Name, Revision, Seq, Timestamp};
use seaway_wire::{KeptAnswer, Row};

/// The last record of a log; position 0 and the genesis hash when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub seq: Seq,
    pub hash: Digest,
    pub at: Timestamp,
}

/// Which records a list shows. What is `None` does not restrict it.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub deployment: Option<DeploymentId>,
    /// A target path: the target itself and everything below it.
    pub under: Option<Box<str>>,
    pub kind: Option<Kind>,
    pub fact: Option<Fact>,
    pub revision: Option<Revision>,
    pub service: Option<Name>,
    /// First and last position, both included.
    pub since: Option<Seq>,
    pub until: Option<Seq>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    NewestFirst,
    OldestFirst,
}

/// A piece of a long answer. It may hold fewer items than asked for and still have a `next`: a page
/// looks at a bounded part of the log. Only `next: None` means that there is no more.
#[derive(Clone, Debug)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Where to go on: hand it in as the cursor of the next page.
    pub next: Option<Seq>,
}

/// A record with the path of its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub row: Row,
    pub path: Box<str>,
}

/// The two endings that have a latest revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Finished,
    Failed,
}

impl Ending {
    #[must_use]
    pub fn fact(self) -> Fact {
        match self {
            Self::Finished => Fact::Finished,
            Self::Failed => Fact::Failed,
        }
    }
}

/// What a deployment did, or is doing, at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub deployment: DeploymentId,
    pub revision: Revision,
    pub service: Name,
    pub version: Option<Box<str>>,
    pub opened: Seq,
    /// `None` while it is in progress, or was at the time that the question is about.
    pub ended: Option<Ended>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    pub fact: Fact,
    pub seq: Seq,
}

/// A state of the kernel after a record, so that a start need not fold the whole log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub seq: Seq,
    /// Hash of the record at `seq`: a checkpoint of another history is never handed out.
    pub hash: Digest,
    pub state_digest: Digest,
    pub bytes: Vec<u8>,
}

/// What the log knows about a deployment that is about to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precedents {
    /// Where a deployment with this id has started.
    pub started: Option<Seq>,
    /// The number of the version.
    pub revision: Option<Revision>,
    /// What is kept under the key that was asked for.
    pub answer: Option<KeptAnswer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    pub records: u64,
    pub head: Head,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    pub records: u64,
    pub deployments: u64,
    pub targets: u64,
    /// Size of the whole store, which its projects share.
    pub bytes: u64,
    /// Time of the first and the last record, once there is one.
    pub times: Option<(Timestamp, Timestamp)>,
}
