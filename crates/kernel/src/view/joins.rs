use seaway_model::{DeploymentId, Name};

use crate::Kernel;
use crate::structure::Event;

/// A join that has seen some of its events, and waits for the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingJoin {
    pub stage: Name,
    pub sequence: Name,
    pub missing: Vec<Event>,
}

impl Kernel {
    /// The joins that a deployment has begun to fill.
    #[must_use]
    pub fn waiting_joins(&self, deployment: DeploymentId) -> Vec<WaitingJoin> {
        let Some(deployment) = self.deployments.get(&deployment) else { return Vec::new() };
        let joins = self.world.joins.iter().filter_map(|entry| {
            let missing = deployment.missing(&self.world, *entry).filter(|it| !it.is_empty())?;
            let stage = self.world.stages.name(entry.0).clone();
            let sequence = self.world.sequences.name(entry.1).clone();
            Some(WaitingJoin { stage, sequence, missing })
        });
        joins.collect()
    }
}
