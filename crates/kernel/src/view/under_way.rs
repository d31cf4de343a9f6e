use std::collections::BTreeSet;

use seaway_model::{DeploymentId, Name, Revision, Seq};

use crate::Kernel;
use crate::state::{Course, Deployment};

/// A deployment in memory that has not ended, as people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay<'a> {
    pub id: DeploymentId,
    pub revision: Revision,
    /// The record that it began with.
    pub started: Seq,
    pub service: &'a Name,
    pub version: &'a str,
    pub paused: bool,
}

impl<'a> UnderWay<'a> {
    fn of(deployment: &'a Deployment) -> Option<Self> {
        (!deployment.has_ended()).then_some(Self {
            id: deployment.id,
            revision: deployment.revision,
            started: deployment.started,
            service: &deployment.service,
            version: &deployment.version,
            paused: matches!(deployment.course, Course::Paused { .. }),
        })
    }
}

impl Kernel {
    /// A deployment, if it is under way.
    #[must_use]
    pub fn under_way(&self, deployment: DeploymentId) -> Option<UnderWay<'_>> {
        self.deployments.get(&deployment).and_then(UnderWay::of)
    }

    /// The deployments under way, oldest revision first: at most `limit`, from those on whose
    /// revision and beginning come after `after`.
    #[must_use]
    pub fn oldest(&self, after: Option<(Revision, Seq)>, limit: usize) -> Vec<UnderWay<'_>> {
        let mut ranks: BTreeSet<(Revision, Seq, DeploymentId)> = BTreeSet::new();
        let live = self.deployments.values().filter(|it| !it.has_ended());
        for deployment in live.filter(|it| after.is_none_or(|after| it.rank() > after)) {
            let (revision, started) = deployment.rank();
            let rank = (revision, started, deployment.id);
            // Only those that may be among the first are kept, however many there are.
            if ranks.len() < limit {
                ranks.insert(rank);
            } else if ranks.last().is_some_and(|last| rank < *last) {
                ranks.pop_last();
                ranks.insert(rank);
            }
        }
        ranks.iter().filter_map(|(_, _, id)| self.under_way(*id)).collect()
    }
}
