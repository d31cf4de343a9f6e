use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{
    DeploymentId, ExecutorName, Fence, Name, Revision, Seq, TargetDef, TargetError, TargetTable,
    Timestamp,
};

use crate::state::{
    Alarms, Claimable, Deployment, Documents, Executors, Permits, Places, Recent, Spot, Waiter,
    World,
};
use crate::{Refusal, Step};

/// One project: everything that its log adds up to.
///
/// State changes only by folding records: [`Kernel::decide`] and [`Kernel::tick`] make records and
/// fold each through the same code as [`Kernel::apply`]. If what they made does not become durable,
/// the kernel has to be dropped and loaded again.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) project: Name,
    pub(crate) head: Seq,
    pub(crate) time: Timestamp,
    pub(crate) targets: TargetTable,
    pub(crate) world: World,
    pub(crate) deployments: BTreeMap<DeploymentId, Deployment>,
    pub(crate) by_start: BTreeMap<Seq, DeploymentId>,
    pub(crate) permits: Permits,
    pub(crate) places: Places,
    pub(crate) last_revision: Revision,
    pub(crate) recent: Recent,
    /// Deployments with something to look at, oldest first.
    pub(crate) active: BTreeSet<(Revision, Seq)>,
    /// Deployments that ended since the last sweep, with their services.
    pub(crate) ended: Vec<(DeploymentId, Name)>,
    /// Deployments that were brought back; those that turn out to have ended leave again.
    pub(crate) revived: Vec<DeploymentId>,
    pub(crate) executors: Executors,
    /// Derived: tasks that executors may take, by the task's name.
    pub(crate) offered: BTreeMap<Name, BTreeSet<Step>>,
    /// Derived: the tasks that wait for an executor, or did while they are in flight.
    pub(crate) shares: BTreeMap<ExecutorName, BTreeSet<Step>>,
    /// Derived: the shares that may be taken now.
    pub(crate) claimable: Claimable,
    /// Derived: what happens by itself when its time comes.
    pub(crate) alarms: Alarms,
    pub(crate) documents: Documents,
    pub(crate) volatile: Volatile,
}

/// What is neither a record nor part of the hashed state: when holders last said they are alive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Volatile {
    pub(crate) deadlines: BTreeMap<Step, Timestamp>,
    pub(crate) by_deadline: BTreeSet<(Timestamp, Step)>,
    /// The time of the last question.
    pub(crate) now: Timestamp,
}

/// Whether a tick left work for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Pace {
    /// Nothing more to do until a command, an observation or the next wake-up.
    Idle,
    /// The limit was reached; tick again at once.
    More,
}

impl Kernel {
    #[must_use]
    pub fn new(project: &Name) -> Self {
        Self {
            project: project.clone(),
            head: Seq(0),
            time: Timestamp::default(),
            targets: TargetTable::new(project.as_str()),
            world: World::default(),
            deployments: BTreeMap::new(),
            by_start: BTreeMap::new(),
            permits: Permits::default(),
            places: Places::default(),
            last_revision: Revision(0),
            recent: Recent::default(),
            active: BTreeSet::new(),
            ended: Vec::new(),
            revived: Vec::new(),
            executors: Executors::default(),
            offered: BTreeMap::new(),
            shares: BTreeMap::new(),
            claimable: Claimable::default(),
            alarms: Alarms::default(),
            documents: Documents::default(),
            volatile: Volatile::default(),
        }
    }

    #[must_use]
    pub fn project(&self) -> &Name {
        &self.project
    }

    #[must_use]
    pub fn targets(&self) -> &TargetTable {
        &self.targets
    }

    pub fn define_target(&mut self, def: &TargetDef) -> Result<(), TargetError> {
        self.targets.define(def)
    }

    /// Position of the last record that was applied.
    #[must_use]
    pub fn head(&self) -> Seq {
        self.head
    }

    /// Time of the last record that was applied.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.time
    }

    #[must_use]
    pub fn structure(&self) -> &crate::Structure {
        &self.world.structure
    }

    /// Whether a deployment is in memory, under way or brought back.
    #[must_use]
    pub fn is_loaded(&self, deployment: DeploymentId) -> bool {
        self.deployments.contains_key(&deployment)
    }

    /// The service of a deployment that is in memory, also of one that has just ended.
    #[must_use]
    pub fn service(&self, deployment: DeploymentId) -> Option<&Name> {
        let ended = || self.ended.iter().find(|(id, _)| *id == deployment).map(|(_, it)| it);
        self.deployments.get(&deployment).map(|deployment| &deployment.service).or_else(ended)
    }

    /// The deployments in memory, with their revisions.
    pub fn deployments(&self) -> impl Iterator<Item = (DeploymentId, Revision)> + '_ {
        let live = self.deployments.values().filter(|it| !it.has_ended());
        live.map(|it| (it.id, it.revision))
    }

    /// How much there is of it: targets, and steps of deployments in memory.
    #[must_use]
    pub fn weight(&self) -> usize {
        let runs = self.deployments.values().flat_map(|deployment| deployment.runs.values());
        self.targets.len() + runs.map(|run| run.cells.len()).sum::<usize>()
    }

    /// Forgets what is only kept until the records of an append were handed on.
    pub fn sweep(&mut self) {
        self.ended.clear();
        self.drop_revived(|_| true);
    }

    /// Deployments that were brought back and are still over leave memory again. Those that a
    /// record is about do so with that record: replay sweeps at other moments, and must come to
    /// the same state.
    pub(crate) fn drop_revived(&mut self, concerned: impl Fn(DeploymentId) -> bool) {
        for id in std::mem::take(&mut self.revived) {
            if !concerned(id) {
                self.revived.push(id);
                continue;
            }
            let Some(deployment) = self.deployments.get(&id).filter(|it| it.has_ended()) else {
                continue;
            };
            match Self::is_over(deployment) {
                true => self.remove(id),
                false => self.revived.push(id),
            }
        }
    }

    /// Whether a deployment has ended, and nothing happened to it that has yet to start a sequence.
    pub(crate) fn is_over(deployment: &Deployment) -> bool {
        deployment.has_ended() && deployment.derived.firing.is_empty()
    }

    /// A deployment that has ended leaves memory.
    pub(crate) fn remove(&mut self, id: DeploymentId) {
        if let Some(gone) = self.deployments.remove(&id) {
            self.by_start.remove(&gone.started);
            self.active.remove(&gone.rank());
            for &(target, kind) in gone.leases.keys() {
                self.volatile.clear(Step { deployment: id, target, kind });
            }
            self.alarms.clear_all(id);
            for (&(target, kind), offer) in &gone.offers {
                let step = Step { deployment: id, target, kind };
                let rank = gone.rank();
                offer.parts.iter().for_each(|part| self.forget_share(&part.executor, step, rank));
                self.withdraw_offer(step);
            }
            self.ended.push((id, gone.service));
        }
    }

    /// A holder says that it is alive.
    pub fn renew(&mut self, step: Step, fence: Fence, now: Timestamp) -> Result<(), Refusal> {
        let current = self.fence_of(step)?;
        if current != fence {
            return Err(Refusal::StaleFence { given: fence, current });
        }
        let deployment = &self.deployments[&step.deployment];
        let lease = deployment.leases.get(&(step.target, step.kind)).ok_or(Refusal::NotOffered)?;
        let ttl = lease.ttl;
        self.volatile.set(step, now + ttl);
        Ok(())
    }

    /// After a start or takeover every open lease and executor counts as renewed now.
    pub fn renew_all(&mut self, now: Timestamp) {
        self.executors.renew_all(now);
        for deployment in self.deployments.values() {
            for (&(target, kind), lease) in &deployment.leases {
                let step = Step { deployment: deployment.id, target, kind };
                self.volatile.set(step, now + lease.ttl);
            }
        }
    }

    /// When a tick has something to do by itself: a lease, an executor or a time runs out.
    #[must_use]
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        let lease = self.volatile.by_deadline.first().map(|(at, _)| *at);
        let executor = self.executors.first_silent().map(|(at, _)| at);
        let alarm = self.alarms.first().map(|(at, _, _)| at);
        [lease, executor, alarm].into_iter().flatten().min()
    }

    /// Whether something happens by itself when its time comes, other than that somebody who is
    /// not heard of any more counts as gone.
    #[must_use]
    pub fn awaits_a_time(&self) -> bool {
        self.alarms.first().is_some()
    }

    /// An executor says that it is there.
    pub fn heartbeat(&mut self, executor: &ExecutorName, now: Timestamp) -> Result<(), Refusal> {
        let known = self.executors.renew(executor, now);
        known.then_some(()).ok_or_else(|| Refusal::UnknownExecutor(executor.clone()))
    }

    /// Puts whoever is first in line on its deployment's list again.
    pub(crate) fn kick(&mut self, key: crate::state::PermitKey) {
        if let Some(waiter) = self.permits.first_in_line(key) {
            self.call_up(waiter);
        }
        self.permits.bystanders(key).into_iter().for_each(|waiter| self.call_up(waiter));
    }

    /// A waiter is looked at again. It keeps its place in line until then.
    pub(crate) fn call_up(&mut self, waiter: Waiter) {
        let id = self.by_start[&waiter.started];
        let deployment = self.deployments.get_mut(&id).expect("waiters are in memory");
        deployment.derived.todo.insert(waiter.spot);
        self.active.insert(deployment.rank());
    }

    /// A step leaves its lines for good; whoever came behind it is looked at again.
    pub(crate) fn leave_lines(&mut self, id: DeploymentId, spot: Spot) {
        let deployment = self.deployments.get_mut(&id).expect("waiters are in memory");
        let Some(keys) = deployment.derived.in_line.remove(&spot) else { return };
        let (revision, started) = deployment.rank();
        for &key in &keys {
            self.permits.leave(key, Waiter { revision, started, spot });
        }
        keys.into_iter().for_each(|key| self.kick(key));
    }
}

impl Volatile {
    pub(crate) fn set(&mut self, step: Step, deadline: Timestamp) {
        self.clear(step);
        self.deadlines.insert(step, deadline);
        self.by_deadline.insert((deadline, step));
    }

    pub(crate) fn clear(&mut self, step: Step) {
        if let Some(deadline) = self.deadlines.remove(&step) {
            self.by_deadline.remove(&(deadline, step));
        }
    }
}
