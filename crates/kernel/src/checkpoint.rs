use std::collections::BTreeMap;
use std::sync::Arc;

use seaway_model::{
    DeploymentId, Digest, ExecutorName, Name, Revision, Seq, TargetDef, TargetId, TargetTable,
    Timestamp,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Kernel;
use crate::flow::Flow;
use crate::state::{
    Alarm, Cause, Cell, Course, Deployment, Documents, Executor, Ghost, Ground, Lease, Members,
    Numbers, Offer, Origin, Permit, PermitKey, RunKey, StepKey, Tries, World,
};
use crate::structure::{self, Sequence, Slot, Structure, Trigger};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    #[error("the checkpoint was written by another version")]
    Version,
    #[error("the checkpoint is damaged")]
    Damaged,
}

/// Raised whenever the form below changes; older checkpoints are then replayed over, not read.
const VERSION: u32 = 5;

/// Folded state, as it is stored and as it is hashed. Whatever follows from the rest is left out,
/// and numbers that depend on the order of interning are spelled out. It is followed by the number
/// of deployments, the deployments, and the targets.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    head: Seq,
    time: Timestamp,
    structure: Structure,
    definitions: Vec<Arc<Sequence>>,
    current: BTreeMap<(u32, u32), u32>,
    introduced: Vec<(Slot, Seq)>,
    join_since: Vec<((u32, u32, Trigger), Seq)>,
    stages: Vec<Name>,
    sequences: Vec<Name>,
    departed: BTreeMap<u32, StoredGhost>,
    permits: Vec<(StoredKey, Permit)>,
    guests: BTreeMap<PermitKey, Name>,
    member_places: Vec<MemberPlaces>,
    task_places: Vec<(u32, Box<str>, Slot, Revision)>,
    last_revision: Revision,
    recent: Vec<(Name, Box<str>, Revision)>,
    executors: BTreeMap<ExecutorName, Executor>,
    documents: Documents,
}

/// By stage, service and group: the newest revision at every member.
type MemberPlaces = (u32, Box<str>, Box<str>, Vec<(Box<str>, Revision)>);

#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
enum StoredKey {
    Stage(u32),
    Range(u32, u32),
    Service(u32, Box<str>),
    Member(Box<str>, Box<str>),
}

#[derive(Serialize, Deserialize)]
struct StoredGhost {
    stage: Arc<structure::Stage>,
    followers: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
struct StoredDeployment {
    id: DeploymentId,
    revision: Revision,
    started: Seq,
    service: Name,
    version: Box<str>,
    course: Course,
    finish: Cell,
    stages: Vec<StoredStage>,
    runs: Vec<StoredRun>,
    ghosts: BTreeMap<u32, StoredGhost>,
    attic: Vec<(StepKey, Cell)>,
    tries: Vec<(StepKey, Tries)>,
    leases: Vec<(StepKey, Lease)>,
    offers: BTreeMap<StepKey, Offer>,
    backoffs: BTreeMap<StepKey, Timestamp>,
    causes: BTreeMap<Seq, Cause>,
    joined: Vec<((u32, u32, Trigger), Seq)>,
    numbers: BTreeMap<(u32, u32), u32>,
    pauses: u32,
    events: u32,
    refused: u32,
}

#[derive(Serialize, Deserialize)]
struct StoredStage {
    number: u32,
    target: TargetId,
    started: Cell,
    finish: Cell,
    holds: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredRun {
    key: RunKey,
    target: TargetId,
    definition: u32,
    pinned: bool,
    withdrawn: bool,
    holds_service: bool,
    holds_range: bool,
    holder: TargetId,
    inherited: Vec<u32>,
    exempt: bool,
    origin: Option<Origin>,
    since: Seq,
    flow: Flow,
    moved: Timestamp,
    begun: Option<Timestamp>,
    cells: Vec<u8>,
}

impl Kernel {
    /// Digest of the state: equal live, replayed, and after a checkpoint.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest(&self.hashed_bytes())
    }

    /// The folded state, for a fast start, and its digest.
    #[must_use]
    pub fn checkpoint(&self) -> (Digest, Vec<u8>) {
        let mut bytes = self.hashed_bytes();
        let digest = digest(&bytes);
        write(&self.targets.defined_from(0).collect::<Vec<TargetDef>>(), &mut bytes);
        (digest, bytes)
    }

    /// The kernel that a checkpoint was taken from.
    pub fn restore(project: &Name, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (version, _) =
            postcard::take_from_bytes::<u32>(bytes).map_err(|_cut| CheckpointError::Damaged)?;
        if version != VERSION {
            return Err(CheckpointError::Version);
        }
        let mut rest = bytes;
        let stored: Stored = read(&mut rest)?;
        let count: u64 = read(&mut rest)?;
        let deployments = (0..count).map(|_| read(&mut rest)).collect::<Result<Vec<_>, _>>()?;
        let targets: Vec<TargetDef> = read(&mut rest)?;
        let mut kernel = Self::new(project);
        for def in &targets {
            kernel.targets.define(def).map_err(|_bad| CheckpointError::Damaged)?;
        }
        kernel.take_over(stored);
        for deployment in deployments {
            kernel.take_deployment(deployment)?;
        }
        Ok(kernel)
    }

    /// All but the targets, whose numbers depend on the order of interning. Deployments, of which
    /// there may be many, are copied one at a time.
    fn hashed_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&self.stored(), &mut bytes);
        let open = || self.deployments.values().filter(|deployment| !Self::is_over(deployment));
        write(&(open().count() as u64), &mut bytes);
        open().for_each(|deployment| write(&store_deployment(deployment), &mut bytes));
        bytes
    }

    fn stored(&self) -> Stored {
        let world = &self.world;
        let part = |part: u32| -> Box<str> { self.targets.part(part).into() };
        let mut permits: Vec<(StoredKey, Permit)> = self
            .permits
            .held
            .iter()
            .map(|(key, permit)| (self.key_text(*key), permit.clone()))
            .collect();
        permits.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let mut member_places: Vec<_> = self
            .places
            .members
            .iter()
            .map(|(&(stage, service, group), members)| {
                let mut members: Vec<_> =
                    members.iter().map(|(&member, &newest)| (part(member), newest)).collect();
                members.sort_unstable();
                (stage, part(service), part(group), members)
            })
            .collect();
        member_places.sort_unstable();
        let mut task_places: Vec<_> = self
            .places
            .tasks
            .iter()
            .map(|((stage, service, slot), &newest)| (*stage, part(*service), slot.clone(), newest))
            .collect();
        task_places.sort_unstable();
        Stored {
            version: VERSION,
            head: self.head,
            time: self.time,
            structure: world.structure.clone(),
            definitions: world.definitions.clone(),
            current: world.current.clone(),
            introduced: world.introduced.iter().map(|(slot, seq)| (slot.clone(), *seq)).collect(),
            join_since: world.join_since.iter().map(|(join, at)| (join.clone(), *at)).collect(),
            stages: world.stages.names().to_vec(),
            sequences: world.sequences.names().to_vec(),
            departed: world.departed.iter().map(|(number, it)| (*number, ghost(it))).collect(),
            permits,
            guests: self.permits.guests.clone(),
            member_places,
            task_places,
            last_revision: self.last_revision,
            recent: self.recent.all().cloned().collect(),
            executors: self.executors.all().clone(),
            documents: self.documents.clone(),
        }
    }

    fn key_text(&self, key: PermitKey) -> StoredKey {
        let part = |part: u32| -> Box<str> { self.targets.part(part).into() };
        match key {
            PermitKey::Stage(stage) => StoredKey::Stage(stage),
            PermitKey::Range(stage, sequence) => StoredKey::Range(stage, sequence),
            PermitKey::Service(stage, service) => StoredKey::Service(stage, part(service)),
            PermitKey::Member(member, service) => StoredKey::Member(part(member), part(service)),
        }
    }

    fn take_over(&mut self, stored: Stored) {
        self.head = stored.head;
        self.time = stored.time;
        self.last_revision = stored.last_revision;
        for (service, version, revision) in &stored.recent {
            self.recent.note(service, version, *revision);
        }
        self.documents = stored.documents;
        for (name, executor) in stored.executors {
            self.executors.register(&name, executor, stored.time);
        }
        self.world = World {
            structure: stored.structure,
            definitions: stored.definitions,
            current: stored.current,
            introduced: stored.introduced.into_iter().collect(),
            join_since: stored.join_since.into_iter().collect(),
            stages: Numbers::from_names(stored.stages),
            sequences: Numbers::from_names(stored.sequences),
            ..World::default()
        };
        self.world.index(&mut self.targets);
        for (number, departed) in stored.departed {
            let ghost = self.ghost(departed);
            self.world.departed.insert(number, ghost);
        }
        let Self { targets, permits, places, .. } = self;
        let mut part = |text: &str| targets.intern_part(text);
        for (key, permit) in stored.permits {
            let key = match key {
                StoredKey::Stage(stage) => PermitKey::Stage(stage),
                StoredKey::Range(stage, sequence) => PermitKey::Range(stage, sequence),
                StoredKey::Service(stage, service) => PermitKey::Service(stage, part(&service)),
                StoredKey::Member(member, service) => {
                    PermitKey::Member(part(&member), part(&service))
                }
            };
            permits.held.insert(key, permit);
        }
        permits.guests = stored.guests;
        for (stage, service, group, members) in stored.member_places {
            let key = (stage, part(&service), part(&group));
            let members = members.into_iter().map(|(member, newest)| (part(&member), newest));
            places.members.insert(key, members.collect());
        }
        for (stage, service, slot, newest) in stored.task_places {
            places.tasks.insert((stage, part(&service), slot), newest);
        }
    }

    fn ghost(&mut self, stored: StoredGhost) -> Ghost {
        let targets = &mut self.targets;
        let groups = stored.stage.groups.iter();
        let members = groups.map(|(name, group)| {
            (name.clone(), Arc::new(Members::new(group.members.iter(), targets)))
        });
        let members = members.collect();
        Ghost { stage: stored.stage, followers: stored.followers, members }
    }

    fn take_deployment(&mut self, stored: StoredDeployment) -> Result<(), CheckpointError> {
        let ghosts =
            stored.ghosts.into_iter().map(|(number, it)| (number, self.ghost(it))).collect();
        let mut deployment = Deployment {
            id: stored.id,
            revision: stored.revision,
            started: stored.started,
            service_part: self.targets.intern_part(stored.service.as_str()),
            service: stored.service,
            version: stored.version,
            course: stored.course,
            finish: stored.finish,
            stages: stored.stages.into_iter().map(stage).collect(),
            runs: BTreeMap::new(),
            ghosts,
            attic: BTreeMap::new(),
            tries: stored.tries.into_iter().collect(),
            leases: stored.leases.into_iter().collect(),
            offers: stored.offers,
            backoffs: stored.backoffs,
            causes: stored.causes,
            joined: stored.joined.into_iter().collect(),
            numbers: stored.numbers,
            events: stored.events,
            refused: stored.refused,
            pauses: stored.pauses,
            derived: Default::default(),
        };
        let (world, targets, seq) = (&self.world, &mut self.targets, self.head);
        for run in stored.runs {
            take_run(&mut deployment, run, world, (seq, targets))?;
        }
        deployment.attic = stored.attic.into_iter().collect();
        deployment.walk(&mut Ground { world, targets, seq });
        self.active.insert(deployment.rank());
        self.by_start.insert(deployment.started, deployment.id);
        let id = deployment.id;
        self.revived.extend(deployment.has_ended().then_some(id));
        self.deployments.insert(id, deployment);
        self.set_alarms(id);
        Ok(())
    }

    /// Sets every alarm that follows from the state of a deployment.
    fn set_alarms(&mut self, id: DeploymentId) {
        let deployment = &self.deployments[&id];
        let offers: Vec<StepKey> = deployment.offers.keys().copied().collect();
        let backoffs: Vec<(StepKey, Timestamp)> =
            deployment.backoffs.iter().map(|(key, until)| (*key, *until)).collect();
        let begun = deployment.runs.values().filter(|run| run.begun.is_some());
        let runs: Vec<RunKey> = begun.map(|run| run.key).collect();
        offers.into_iter().for_each(|key| self.index_offer(id, key));
        for (key, until) in backoffs {
            self.alarms.set(id, Alarm::Backoff(key), until);
        }
        runs.into_iter().for_each(|key| self.watch_run(id, key));
    }
}

fn take_run(
    deployment: &mut Deployment,
    stored: StoredRun,
    world: &World,
    (seq, targets): (Seq, &mut TargetTable),
) -> Result<(), CheckpointError> {
    let key = stored.key;
    if stored.definition as usize >= world.definitions.len() {
        return Err(CheckpointError::Damaged);
    }
    deployment.insert_run(key, stored.target, stored.definition);
    deployment.reshape(world, key, seq, targets);
    let run = deployment.runs.get_mut(&key).expect("it was just inserted");
    let cells: Vec<Cell> = stored.cells.into_iter().map(Cell::from_byte).collect();
    let laid_out = !run.cells.is_empty();
    if laid_out && run.cells.len() != cells.len() {
        return Err(CheckpointError::Damaged);
    }
    (run.pinned, run.withdrawn) = (stored.pinned, stored.withdrawn);
    (run.holds_service, run.holds_range) = (stored.holds_service, stored.holds_range);
    (run.holder, run.inherited, run.exempt) = (stored.holder, stored.inherited, stored.exempt);
    (run.origin, run.since, run.flow) = (stored.origin, stored.since, stored.flow);
    (run.moved, run.begun) = (stored.moved, stored.begun);
    if laid_out {
        run.cells = cells;
        run.recount();
    }
    Ok(())
}

fn stage(stored: StoredStage) -> (u32, crate::state::Stage) {
    let StoredStage { number, target, started, finish, holds } = stored;
    (number, crate::state::Stage { target, started, finish, holds, ..Default::default() })
}

fn ghost(ghost: &Ghost) -> StoredGhost {
    StoredGhost { stage: ghost.stage.clone(), followers: ghost.followers.clone() }
}

fn write(part: &impl Serialize, bytes: &mut Vec<u8>) {
    postcard::to_io(part, bytes).expect("state serialises into memory");
}

fn read<'a, T: Deserialize<'a>>(rest: &mut &'a [u8]) -> Result<T, CheckpointError> {
    let read = postcard::take_from_bytes(rest).map_err(|_broken| CheckpointError::Damaged)?;
    let (part, after) = read;
    *rest = after;
    Ok(part)
}

fn digest(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

fn store_deployment(deployment: &Deployment) -> StoredDeployment {
    let stages = deployment.stages.iter().map(|(&number, stage)| StoredStage {
        number,
        target: stage.target,
        started: stage.started.stored(),
        finish: stage.finish.stored(),
        holds: stage.holds,
    });
    let runs = deployment.runs.values().map(|run| StoredRun {
        key: run.key,
        target: run.target,
        definition: run.definition,
        pinned: run.pinned,
        withdrawn: run.withdrawn,
        holds_service: run.holds_service,
        holds_range: run.holds_range,
        holder: run.holder,
        inherited: run.inherited.clone(),
        exempt: run.exempt,
        origin: run.origin.clone(),
        since: run.since,
        flow: run.flow.clone(),
        moved: run.moved,
        begun: run.begun,
        cells: run.cells.iter().map(|cell| cell.byte()).collect(),
    });
    StoredDeployment {
        id: deployment.id,
        revision: deployment.revision,
        started: deployment.started,
        service: deployment.service.clone(),
        version: deployment.version.clone(),
        course: deployment.course.clone(),
        finish: deployment.finish.stored(),
        stages: stages.collect(),
        runs: runs.collect(),
        ghosts: deployment.ghosts.iter().map(|(&number, it)| (number, ghost(it))).collect(),
        attic: deployment.attic.iter().map(|(key, cell)| (*key, cell.stored())).collect(),
        tries: deployment.tries.iter().map(|(key, tries)| (*key, *tries)).collect(),
        leases: deployment.leases.iter().map(|(key, lease)| (*key, lease.clone())).collect(),
        offers: deployment.offers.clone(),
        backoffs: deployment.backoffs.clone(),
        causes: deployment.causes.clone(),
        joined: deployment.joined.iter().map(|(entry, at)| (entry.clone(), *at)).collect(),
        numbers: deployment.numbers.clone(),
        pauses: deployment.pauses,
        events: deployment.events,
        refused: deployment.refused,
    }
}
