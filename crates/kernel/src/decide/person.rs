use seaway_model::Fact;

use crate::flow::MAX_PAYLOAD;
use crate::record::{Detail, Reason};
use crate::schedule::{Draft, Pen, is_work};
use crate::state::{Alarm, Course, Deployment, Position, Spot, Status};
use crate::{Kernel, Refusal, Reply, Step};

impl Kernel {
    pub(super) fn retry(
        &mut self,
        step: Step,
        data: Option<&str>,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        let spot = self.work_spot(step)?;
        let deployment = self.recoverable(step)?;
        let cell = deployment.cell(spot);
        if !cell.has_failed() && !cell.backs_off() {
            return Err(Refusal::NotFailed);
        }
        if let (Some(data), Position::Inside(run, _)) = (data, spot.position()) {
            let more = super::trigger::check_data(Some(data))?.len();
            if deployment.runs[&run].flow.size() + more > MAX_PAYLOAD {
                return Err(Refusal::TooMuchData);
            }
        }
        self.check_newest(deployment, spot)?;
        check_later(deployment, spot)?;
        let detail = data.map(|data| Box::new(Detail::Edits(data.into())));
        self.emit(step.deployment, spot, Draft { detail, ..Draft::new(Fact::Retried) }, pen);
        Ok(self.done())
    }

    pub(super) fn skip(
        &mut self,
        step: Step,
        reason: &str,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        if reason.trim().is_empty() || reason.len() > Refusal::MAX_REASON {
            return Err(Refusal::BadReason);
        }
        let spot = self.work_spot(step)?;
        let deployment = self.recoverable(step)?;
        let cell = deployment.cell(spot);
        if cell.is_complete() {
            return Err(Refusal::AlreadyComplete);
        }
        if cell.is_idle() && !self.is_met(deployment, spot) {
            return Err(Refusal::NotReached);
        }
        if cell.has_failed() {
            self.check_newest(deployment, spot)?;
        }
        check_later(deployment, spot)?;
        let n = deployment.tries((step.target, step.kind)).leases;
        let n = if cell.in_flight() { n } else { 0 };
        let key = (step.target, step.kind);
        self.cancel_parts(step.deployment, key, &Reason::Person(reason.into()), pen);
        let draft = Draft { n, ..Draft::because(Fact::Skipped, Reason::Person(reason.into())) };
        self.emit(step.deployment, spot, draft, pen);
        Ok(self.done())
    }

    fn work_spot(&self, step: Step) -> Result<Spot, Refusal> {
        let spot = self.spot_of(step)?;
        is_work(self.loaded(step.deployment)?, spot).map_err(Refusal::IsMarker)?;
        Ok(spot)
    }

    /// A deployment that a person can still help: open, or ended as failed.
    fn recoverable(&self, step: Step) -> Result<&Deployment, Refusal> {
        let deployment = self.loaded(step.deployment)?;
        if let Course::Aborting { .. } = deployment.course {
            return Err(super::trigger::aborted(deployment));
        }
        let superseded = |status| status == Status::Superseded;
        let in_stage = |stage: u32| superseded(deployment.stages[&stage].finish.status());
        let spot = self.spot_of(step)?;
        let in_run = match spot.position() {
            Position::Inside(run, _) => superseded(deployment.runs[&run].finish().status()),
            _ => false,
        };
        match deployment.finish.status() {
            status if superseded(status) || in_run || spot.stage().is_some_and(in_stage) => {
                Err(Refusal::Superseded(step.deployment))
            }
            Status::Idle | Status::Failed => Ok(deployment),
            _ => Err(Refusal::Ended(step.deployment)),
        }
    }

    /// A step whose place has a newer revision is not worth another attempt.
    fn check_newest(&self, deployment: &Deployment, spot: Spot) -> Result<(), Refusal> {
        let first = match spot.position() {
            Position::Inside(run, cell) => {
                let shape = &deployment.runs[&run].shape;
                let first = match shape.role(cell) {
                    crate::state::Role::Link { group, member, .. } => {
                        shape.groups[group].cell(member, 0)
                    }
                    _ => cell,
                };
                Spot::inside(run, first)
            }
            _ => spot,
        };
        let place = self.place(deployment, first);
        match place.and_then(|place| self.places.newest(&place)) {
            Some(newest) if newest > deployment.revision => Err(Refusal::Superseded(deployment.id)),
            _ => Ok(()),
        }
    }

    /// Whether the walk has met an idle step.
    fn is_met(&self, deployment: &Deployment, spot: Spot) -> bool {
        let derived = &deployment.derived;
        if derived.todo.contains(&spot) || derived.in_line.contains_key(&spot) {
            return true;
        }
        self.alarms.is_set(deployment.id, Alarm::Delay(spot)) || deployment.cell(spot).is_stale()
    }
}

/// What follows a step must be at rest before a person opens it again.
fn check_later(deployment: &Deployment, spot: Spot) -> Result<(), Refusal> {
    let Position::Inside(key, cell) = spot.position() else { return Ok(()) };
    let run = &deployment.runs[&key];
    if run.counts.in_flight == 0 {
        return Ok(());
    }
    let mut later = (cell + 1)..run.shape.len() as u32;
    let busy = later.any(|it| run.cell(it).in_flight() && run.shape.is_after(cell, it));
    if busy { Err(Refusal::LaterInFlight) } else { Ok(()) }
}
