use std::collections::{BTreeSet, VecDeque};

use seaway_kernel::{Command, Refusal};
use seaway_model::{DeploymentId, Seq};
use seaway_wire::DeploymentStart;

use super::writer::launched;
use super::{Ask, RequestError};

/// Remembers the deployments that started last, so that a look into the store that happened before
/// the decision can be relied on.
///
/// Whoever starts a deployment asks the store first whether its id is taken and whether its version
/// has a number. What became durable since then is known here, and versions also to the kernel; but
/// only the last ones. A look that lies further back is stale: it could register a version twice,
/// or start a deployment that has come and gone meanwhile.
#[derive(Debug)]
pub(super) struct Registrations {
    /// Everything up to here must have been visible to a look into the store.
    floor: Seq,
    recent: VecDeque<(Seq, DeploymentId)>,
    ids: BTreeSet<DeploymentId>,
}

impl Registrations {
    /// Fewer than the versions that the kernel remembers.
    const KEPT: usize = 900;

    /// After a load nothing is known about what was looked up before it.
    pub(super) fn new(head: Seq) -> Self {
        Self { floor: head, recent: VecDeque::new(), ids: BTreeSet::new() }
    }

    pub(super) fn note(&mut self, start: &DeploymentStart) {
        if self.recent.len() == Self::KEPT {
            let (seq, id) = self.recent.pop_front().expect("it is full");
            self.floor = seq;
            self.ids.remove(&id);
        }
        self.recent.push_back((start.seq, start.deployment));
        self.ids.insert(start.deployment);
    }

    /// Whether a deployment started since the floor.
    pub(super) fn knows(&self, deployment: DeploymentId) -> bool {
        self.ids.contains(&deployment)
    }

    /// What the kernel cannot know about a deployment that starts, because it forgets those that
    /// ended: whether the id was used since the store was asked, and whether that was too long ago.
    pub(super) fn admit(&self, ask: &Ask) -> Result<(), RequestError> {
        match ask {
            Ask::Command { command: Command::Start { deployment, .. }, as_of, .. } => {
                if *as_of < self.floor {
                    Err(RequestError::StaleLookup)
                } else if self.ids.contains(deployment) {
                    Err(Refusal::DeploymentExists(*deployment).into())
                } else {
                    Ok(())
                }
            }
            Ask::Command { command, as_of, .. } if launched(command).is_some() => {
                if *as_of < self.floor { Err(RequestError::StaleLookup) } else { Ok(()) }
            }
            Ask::Command { .. } | Ask::Renew { .. } | Ask::Heartbeat { .. } => Ok(()),
        }
    }
}
