use std::collections::{BTreeMap, BTreeSet, VecDeque};

use seaway_kernel::{Command, Refusal, Reply};
use seaway_model::{DeploymentId, Digest, Seq};
use seaway_wire::{DeploymentStart, KeptAnswer};

use super::writer::launched;
use super::{Ask, RequestError};

/// Remembers what was written last, so that a look into the store that happened before the decision
/// can be relied on.
///
/// Whoever starts a deployment asks the store first whether its id is taken and whether its version
/// has a number; whoever sends a request with a key, whether it was answered before. What became
/// durable since then is known here, and versions also to the kernel; but only the last ones. A
/// look that lies further back is stale: it could register a version twice, start a deployment that
/// has come and gone meanwhile, or do something a second time.
#[derive(Debug)]
pub(super) struct Registrations {
    /// Everything up to here must have been visible to a look into the store.
    floor: Seq,
    recent: VecDeque<(Seq, DeploymentId)>,
    ids: BTreeSet<DeploymentId>,
    keys: VecDeque<(Seq, Digest)>,
    answers: BTreeMap<Digest, Reply>,
}

impl Registrations {
    /// Fewer than the versions that the kernel remembers.
    const KEPT: usize = 6_000;

    /// After a load nothing is known about what was looked up before it.
    pub(super) fn new(head: Seq) -> Self {
        Self {
            floor: head,
            recent: VecDeque::new(),
            ids: BTreeSet::new(),
            keys: VecDeque::new(),
            answers: BTreeMap::new(),
        }
    }

    pub(super) fn note(&mut self, start: &DeploymentStart) {
        if self.recent.len() == Self::KEPT {
            let (seq, id) = self.recent.pop_front().expect("it is full");
            self.floor = self.floor.max(seq);
            self.ids.remove(&id);
        }
        self.recent.push_back((start.seq, start.deployment));
        self.ids.insert(start.deployment);
    }

    /// Remembers what a request with a key was told.
    pub(super) fn keep(&mut self, answer: &KeptAnswer) {
        if self.keys.len() == Self::KEPT {
            let (seq, key) = self.keys.pop_front().expect("it is full");
            self.floor = self.floor.max(seq);
            self.answers.remove(&key);
        }
        self.keys.push_back((answer.at, answer.key));
        self.answers.insert(answer.key, reply(answer));
    }

    /// Whether a deployment started since the floor.
    pub(super) fn knows(&self, deployment: DeploymentId) -> bool {
        self.ids.contains(&deployment)
    }

    /// What the kernel cannot know: whether a request was answered before; of a deployment that
    /// starts, whether the id was used since the store was asked; and whether that was too long
    /// ago, because the kernel forgets those that ended.
    pub(super) fn admit(&self, ask: &Ask) -> Result<Option<Reply>, RequestError> {
        let Ask::Command { command, seen, key, .. } = ask else { return Ok(None) };
        if let Some(answer) = key.and_then(|key| self.answers.get(&key)) {
            return Ok(Some(answer.clone()));
        }
        let start = match command {
            Command::Start { deployment, .. } => Some(*deployment),
            _ => None,
        };
        let looked = start.is_some() || launched(command).is_some() || key.is_some();
        if looked && seen.as_of < self.floor {
            return Err(RequestError::StaleLookup);
        }
        match start {
            Some(id) if self.ids.contains(&id) => Err(Refusal::DeploymentExists(id).into()),
            _ => Ok(None),
        }
    }
}

/// What a request that comes again is told.
pub(crate) fn reply(answer: &KeptAnswer) -> Reply {
    match (answer.deployment, answer.revision) {
        (Some(deployment), Some(revision)) => {
            Reply::Started { at: answer.at, deployment, revision }
        }
        _ => Reply::Done { at: answer.at },
    }
}
