use std::collections::BTreeMap;

use seaway_kernel::{Reason, Slot};
use seaway_model::{DeploymentId, Kind, Name, Revision};

use super::ledger::{Status, StepKey};
use super::log::Verifier;
use super::violation::{Rule, Violation};

/// Where a revision arrives, whatever its run and deployment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Member { stage: Name, service: Name, group: Name, member: Name },
    Task { stage: Name, service: Name, slot: Slot },
}

/// The newest revision that was dispatched at each place.
pub(super) type Places = BTreeMap<Place, Revision>;

impl Verifier {
    /// The place that a step belongs to, if revisions are compared there.
    fn place(&mut self, id: DeploymentId, key: StepKey) -> Option<Place> {
        let spot = self.paths.spot(key.0);
        let stage = spot.stage.clone()?;
        let service = self.lives[&id].service.clone();
        if let (Some(group), Some(member)) = (&spot.group, &spot.member) {
            let chain = &self.stage(&stage)?.groups.get(group)?.chain;
            let (group, member) = (group.clone(), member.clone());
            let changes = chain.first() == Some(&Kind::MemberStarted);
            return changes.then_some(Place::Member { stage, service, group, member });
        }
        if key.1 != Kind::TaskDone || !self.has_work(id, key) {
            return None;
        }
        let slot = self.slot(&self.lives[&id], &spot, key.1)?;
        Some(Place::Task { stage, service, slot })
    }

    /// A step is dispatched at its place: nothing newer may have been there.
    pub(super) fn arrive(&mut self, id: DeploymentId, key: StepKey) -> Result<(), Violation> {
        let Some(place) = self.place(id, key) else { return Ok(()) };
        let revision = self.lives[&id].revision;
        let newest = self.places.entry(place).or_default();
        if *newest > revision {
            let detail = format!("revision {newest} was here before");
            return Err(Violation::new(Rule::Place, detail));
        }
        *newest = revision;
        Ok(())
    }

    /// Whether a newer revision is at the place of a step.
    pub(super) fn is_outdated(&mut self, id: DeploymentId, key: StepKey) -> bool {
        let outdated = Status::Skipped(Reason::Superseded);
        if *self.lives[&id].status((key.0, Kind::MemberStarted)) == outdated {
            return true;
        }
        let revision = self.lives[&id].revision;
        let place = self.place(id, key);
        place.and_then(|place| self.places.get(&place)).is_some_and(|newest| *newest > revision)
    }
}
