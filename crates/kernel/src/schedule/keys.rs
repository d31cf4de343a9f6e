use seaway_model::TargetId;
use smallvec::SmallVec;

use crate::Kernel;
use crate::state::{Deployment, Holder, PermitKey, Place, Position, Role, Shape, Spot};
use crate::structure::{Batch, Policy};

/// A permit that a step needs and its holder does not have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) key: PermitKey,
    pub(crate) capacity: u32,
    pub(crate) policy: Policy,
    pub(crate) holder: Holder,
    /// The range was opened and the permit lost: the holder comes back to it.
    pub(crate) returns: bool,
    /// Another run holds it in the same name already.
    pub(crate) shared: bool,
    /// It is not taken: whoever has it only has to be gone.
    pub(crate) awaited: bool,
}

pub(crate) type Needs = SmallVec<[Need; 4]>;

impl Kernel {
    /// The permits that a step needs and that are not held for it.
    pub(crate) fn needs(&self, deployment: &Deployment, spot: Spot) -> Needs {
        let mut needs = Needs::new();
        let Some(number) = spot.stage() else { return needs };
        let stage = &deployment.stages[&number];
        if !stage.holds
            && let Some(definition) = deployment.stage_definition(&self.world, number)
            && let Some(batch) = excluding(definition.batch.as_ref())
        {
            let holder = deployment.holder(TargetId(0));
            let key = PermitKey::Stage(number);
            match batch_use(deployment, number, spot) {
                BatchUse::Asks { returns } => needs.push(self.need(key, batch, holder, returns)),
                BatchUse::Beside => {
                    if !holds_service(deployment, spot) && self.changes_service(key, deployment) {
                        needs.push(Need { awaited: true, ..self.need(key, batch, holder, false) });
                    }
                }
                BatchUse::None => {}
            }
        }
        if let Position::Inside(..) = spot.position() {
            self.needs_inside(deployment, spot, &mut needs);
        }
        needs
    }

    fn needs_inside(&self, deployment: &Deployment, spot: Spot, needs: &mut Needs) {
        let Position::Inside(key, cell) = spot.position() else { return };
        let run = &deployment.runs[&key];
        if cell == Shape::TRIGGERED {
            return;
        }
        let holder = deployment.holder(run.holder);
        let service = deployment.service_part;
        if !run.holds_service {
            let key = PermitKey::Service(key.stage, service);
            needs.push(self.need(key, &ONE, holder, run.cell(Shape::STARTED).is_finished()));
        }
        let role = run.shape.role(cell);
        let definition = &self.world.definitions[run.definition as usize];
        if !run.holds_range
            && run.in_range(definition, role)
            && let Some(range) = &definition.range
        {
            let key = PermitKey::Range(key.stage, key.sequence);
            let returns = run.was_entered(range.first as usize);
            needs.push(self.need(key, &range.batch, holder, returns));
        }
        if let Role::Link { group, member, .. } = role {
            let shape = &run.shape.groups[group];
            let first = run.cell(shape.cell(member, 0));
            let part = shape.members.parts[member as usize];
            if shape.changes_members() && !first.holds() {
                let key = PermitKey::Member(part, service);
                let holder = deployment.holder(run.target);
                needs.push(self.need(key, &ONE, holder, first.is_finished()));
            }
        }
    }

    fn need(&self, key: PermitKey, batch: &Batch, holder: Holder, returns: bool) -> Need {
        let family = matches!(key, PermitKey::Service(..) | PermitKey::Range(..));
        let shared = family && self.permits.holders(key).contains(&holder);
        let (capacity, policy) = (batch.capacity, batch.policy);
        Need { key, capacity, policy, holder, returns, shared, awaited: false }
    }

    /// Whether somebody else who holds a batch is there with the same service.
    fn changes_service(&self, key: PermitKey, deployment: &Deployment) -> bool {
        let others = self.permits.holders(key).iter();
        let others = others.filter(|holder| holder.started != deployment.started);
        others
            .filter_map(|holder| self.deployments.get(self.by_start.get(&holder.started)?))
            .any(|other| other.service == deployment.service)
    }

    /// The place that a step is about, for steps that change one.
    pub(crate) fn place(&self, deployment: &Deployment, spot: Spot) -> Option<Place> {
        let Position::Inside(key, cell) = spot.position() else { return None };
        let run = &deployment.runs[&key];
        let (stage, service) = (key.stage, deployment.service_part);
        match run.shape.role(cell) {
            Role::Link { group, member, .. } => {
                let shape = &run.shape.groups[group];
                let member = shape.members.parts[member as usize];
                let group = self.targets.get(shape.target).part;
                let place = Place::Member { stage, service, group, member };
                shape.changes_members().then_some(place)
            }
            Role::TaskDone { task } if run.shape.tasks[task].groups.is_empty() => {
                let slot = deployment.slot_of(&self.world, run, cell)?;
                Some(Place::Task { stage, service, slot })
            }
            _ => None,
        }
    }
}

/// What a step has to do with the batch around its stage.
enum BatchUse {
    Asks {
        returns: bool,
    },
    /// It goes beside whoever has the batch, unless that one changes the same service.
    Beside,
    None,
}

fn batch_use(deployment: &Deployment, number: u32, spot: Spot) -> BatchUse {
    let stage = &deployment.stages[&number];
    if !stage.triggered {
        return BatchUse::Asks { returns: stage.started.is_finished() };
    }
    match spot.position() {
        Position::Inside(key, _) => match &deployment.runs[&key] {
            run if run.exempt => BatchUse::Beside,
            run => BatchUse::Asks { returns: run.pinned },
        },
        Position::StageStarted(_) if deployment.has_exempt(number) => BatchUse::Beside,
        Position::StageStarted(_) => BatchUse::Asks { returns: false },
        _ => {
            let mut runs = deployment.runs_in(number);
            let held = runs.any(|run| run.pinned && !run.exempt);
            if held { BatchUse::Asks { returns: true } } else { BatchUse::None }
        }
    }
}

const ONE: Batch = Batch { capacity: 1, policy: Policy::Queue };

/// Whether the run of a step holds its service: whoever holds the batch waits for it then.
fn holds_service(deployment: &Deployment, spot: Spot) -> bool {
    match spot.position() {
        Position::Inside(run, _) => deployment.runs[&run].holds_service,
        _ => false,
    }
}

fn excluding(batch: Option<&Batch>) -> Option<&Batch> {
    batch.filter(|batch| batch.policy.excludes())
}
