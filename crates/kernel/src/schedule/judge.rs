use seaway_model::planted::{Bug, planted};
use seaway_model::{Kind, Name, Timestamp};

use super::keys::{Need, Needs};
use crate::state::{Deployment, PermitKey, Permits, Position, Role, Spot, Status, Verdict, Waiter};
use crate::structure::Policy;
use crate::{Kernel, Reason};

/// What is to be done about a step that the walk met. Scheduling and `waiting` both come from it.
#[derive(Clone, Debug)]
pub(crate) enum Judgement {
    /// It is not idle any more.
    Over,
    /// Done without work, with the reason.
    Skip(Reason),
    /// Something before its stage is not through.
    Held,
    /// It waits for its time.
    Later(Timestamp),
    /// Something after it has finished; only a person can end this. Steps without work just end.
    Stale,
    /// In line for these permits; the last is the one that it cannot have. It does not stand in
    /// line for those further in, which only matter to whoever got this far.
    InLine(Needs),
    /// The newer waiter replaces an older one.
    Replaces(PermitKey, Waiter),
    /// It comes back into a range where another revision was meanwhile.
    ComesBack(PermitKey, Back),
    /// A step without work ends.
    Ends(Verdict),
    /// A step with work may be done.
    Doable,
}

/// What a holder finds that comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Back {
    /// A newer revision was there: the run, or the stage, is superseded.
    Superseded,
    /// An older one was there: it starts again where the range opens.
    StartsAgain,
}

impl Kernel {
    pub(crate) fn judge(&self, deployment: &Deployment, spot: Spot) -> Judgement {
        let cell = deployment.cell(spot);
        if !cell.is_idle() {
            return Judgement::Over;
        }
        if is_superseded(deployment, spot) {
            return Judgement::Over;
        }
        if cell.is_passed_over() {
            return Judgement::Skip(Reason::Surpassed);
        }
        let position = spot.position();
        if is_held(deployment, spot) {
            return Judgement::Held;
        }
        if let Position::Inside(..) = position
            && let Some(reason) = self.no_work(deployment, spot)
        {
            return Judgement::Skip(reason);
        }
        if cell.is_stale() && is_work(deployment, spot).is_ok() {
            return Judgement::Stale;
        }
        if let Some(until) = self.delayed_until(deployment, spot)
            && until > self.volatile.now
        {
            return Judgement::Later(until);
        }
        if self.is_outdated(deployment, spot) {
            return Judgement::Skip(Reason::Superseded);
        }
        let needs = self.needs(deployment, spot);
        match self.obstacle(deployment, spot, &needs) {
            Some(judgement) => judgement,
            None => self.end_of(deployment, spot),
        }
    }

    /// Why a step inside a run need not be done, if that is so.
    fn no_work(&self, deployment: &Deployment, spot: Spot) -> Option<Reason> {
        let Position::Inside(key, cell) = spot.position() else { return None };
        let run = &deployment.runs[&key];
        let role = run.shape.role(cell);
        if !deployment.derived.late.is_empty()
            && let Some(slot) = deployment.slot_of(&self.world, run, cell)
            && deployment.derived.late.get(&slot) == Some(&true)
            && self.world.introduced.get(&slot).is_some_and(|at| *at > run.since)
            && !planted(Bug::IntroducedLateIgnored)
            && !run.cell(cell).tried()
        {
            return Some(Reason::IntroducedLate);
        }
        if let Role::TaskDone { task } = role {
            let definition = &self.world.definitions[run.definition as usize];
            if !run.condition_holds(definition, task) {
                return Some(Reason::Condition);
            }
        }
        None
    }

    /// Until when a task waits that goes some time after what came before it.
    pub(crate) fn delayed_until(&self, deployment: &Deployment, spot: Spot) -> Option<Timestamp> {
        let Position::Inside(key, cell) = spot.position() else { return None };
        let run = &deployment.runs[&key];
        let Role::TaskDone { task } = run.shape.role(cell) else { return None };
        let definition = &self.world.definitions[run.definition as usize].tasks[task];
        let delay = definition.delay.filter(|_| !run.cell(cell).tried())?;
        Some(run.moved + delay)
    }

    /// Whether a newer revision is at the place of a step.
    fn is_outdated(&self, deployment: &Deployment, spot: Spot) -> bool {
        let Position::Inside(key, cell) = spot.position() else { return false };
        if deployment.runs[&key].holds_member(cell) || planted(Bug::OlderOverwritesNewer) {
            // Nobody else can have arrived at a member that is held.
            return false;
        }
        let newest = self.place(deployment, spot).and_then(|place| self.places.newest(&place));
        newest.is_some_and(|newest| newest > deployment.revision)
    }

    /// What keeps a step from the permits that it needs.
    fn obstacle(&self, deployment: &Deployment, spot: Spot, needs: &Needs) -> Option<Judgement> {
        let (revision, started) = deployment.rank();
        let me = Waiter { revision, started, spot };
        let refused = |need: &Need| need.awaited || (!need.shared && self.is_refused(need, me));
        if let Some(first) = needs.iter().position(refused) {
            let needs = &needs[..=first];
            let older = needs.iter().find_map(|need| self.replaceable(deployment, need, me));
            return Some(match older {
                Some((key, waiter)) => Judgement::Replaces(key, waiter),
                None => Judgement::InLine(needs.iter().copied().collect()),
            });
        }
        needs.iter().find_map(|need| comes_back(&self.permits, need, &deployment.service))
    }

    fn is_refused(&self, need: &Need, me: Waiter) -> bool {
        !self.permits.is_free(need.key, need.capacity)
            || self.permits.first_in_line(need.key).is_some_and(|first| first < me)
    }

    /// The oldest waiter that a newer one of the same service replaces.
    fn replaceable(
        &self,
        deployment: &Deployment,
        need: &Need,
        me: Waiter,
    ) -> Option<(PermitKey, Waiter)> {
        let Policy::Supersede { max_replaced } = need.policy else { return None };
        if need.awaited {
            return None;
        }
        if self.permits.replaced(need.key) >= max_replaced {
            return None;
        }
        let mut older = self.permits.line(need.key).filter(|waiter| waiter.revision < me.revision);
        let same = older.find(|waiter| {
            self.deployments[&self.by_start[&waiter.started]].service == deployment.service
        });
        same.map(|waiter| (need.key, *waiter))
    }

    /// How a step that nothing keeps goes on.
    fn end_of(&self, deployment: &Deployment, spot: Spot) -> Judgement {
        let verdict = match spot.position() {
            Position::PipelineStarted | Position::StageStarted(_) => Verdict::Passed,
            Position::StageFinished(stage) => deployment.stage_verdict(stage),
            Position::PipelineFinished if deployment.derived.live > 0 => return Judgement::Over,
            Position::PipelineFinished => deployment.pipeline_verdict(&self.world),
            Position::Inside(key, cell) => {
                let run = &deployment.runs[&key];
                let role = run.shape.role(cell);
                if run.shape.has_work(role) {
                    return Judgement::Doable;
                }
                match role {
                    Role::GroupFinished { group } => run.group_verdict(group),
                    Role::TaskDone { task } => run.task_verdict(task),
                    Role::Finished => run.verdict(),
                    _ => Verdict::Passed,
                }
            }
        };
        Judgement::Ends(verdict)
    }
}

/// Whether a step has to wait for the stages before its own. A run that has begun goes on: who
/// stopped it half-way would wait for those who wait for what it holds.
fn is_held(deployment: &Deployment, spot: Spot) -> bool {
    let enters = match spot.position() {
        Position::StageStarted(_) => true,
        Position::Inside(run, _) => !deployment.runs[&run].pinned,
        _ => false,
    };
    enters
        && spot.stage().is_some_and(|stage| {
            let stage = &deployment.stages[&stage];
            let first = matches!(spot.position(), Position::StageStarted(_));
            stage.held || (stage.triggered && !first && !stage.started.lets_through())
        })
}

/// Whether the stage or run of a step was superseded as a whole.
fn is_superseded(deployment: &Deployment, spot: Spot) -> bool {
    let in_stage = spot
        .stage()
        .is_some_and(|stage| deployment.stages[&stage].finish.status() == Status::Superseded);
    let in_run = match spot.position() {
        Position::Inside(run, _) => deployment.runs[&run].finish().status() == Status::Superseded,
        _ => false,
    };
    in_stage || in_run
}

/// A permit that was lost and can be had again: was another revision there meanwhile?
fn comes_back(permits: &Permits, need: &Need, service: &Name) -> Option<Judgement> {
    let last = permits.last(need.key).filter(|last| *last != need.holder)?;
    if !need.returns || need.capacity != 1 || need.shared {
        return None;
    }
    // What was deployed of another service changes the place, but replaces nothing there.
    let same = permits.guests.get(&need.key).is_none_or(|guest| guest == service);
    let newer = last.revision > need.holder.revision;
    let back = match need.key {
        PermitKey::Member(..) => Back::StartsAgain,
        _ if last.revision == need.holder.revision => return None,
        _ if newer && same => Back::Superseded,
        _ => Back::StartsAgain,
    };
    Some(Judgement::ComesBack(need.key, back))
}

impl Judgement {
    /// The fact and kind are the scheduler's; whether a step is worth a record is decided here.
    pub(crate) fn parks(&self) -> bool {
        let waits = matches!(self, Self::Later(_) | Self::InLine(_));
        waits || matches!(self, Self::Over | Self::Held | Self::Stale)
    }
}

/// Kinds that a person may retry or skip: those with work.
pub(crate) fn is_work(deployment: &Deployment, spot: Spot) -> Result<(), Kind> {
    match spot.position() {
        Position::Inside(key, cell) => {
            let shape = &deployment.runs[&key].shape;
            let role = shape.role(cell);
            if shape.has_work(role) { Ok(()) } else { Err(shape.kind(role)) }
        }
        Position::PipelineStarted => Err(Kind::PipelineStarted),
        Position::StageStarted(_) => Err(Kind::StageStarted),
        Position::StageFinished(_) => Err(Kind::StageFinished),
        Position::PipelineFinished => Err(Kind::PipelineFinished),
    }
}
