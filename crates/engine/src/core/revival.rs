use seaway_kernel::Refusal;
use seaway_model::DeploymentId;
use seaway_wire::Linked;

use super::writer::{Waiting, Writer, launched};
use super::{Ask, Obstacle, Output, RequestError};

/// Deployments that failed leave memory; a retry brings them back.
impl Writer {
    /// Answers [`Output::Load`] with all records of the deployment, in order; poll next. The
    /// requests that waited for it are decided before all others.
    ///
    /// Records that are not yet known to be durable are never taken over. Those behind everything
    /// that this writer has decided were written by another owner, and who waited is told so; the
    /// next append finds out as well, because the store refuses it.
    pub fn revive(&mut self, deployment: DeploymentId, rows: &[Linked], out: &mut Vec<Output>) {
        let error = self.bring_back(deployment, rows).err();
        let mut place = 0;
        for (wanted, mut waiting) in std::mem::take(&mut self.parked) {
            let fresh = matches!(error, Some(RequestError::Refused(Refusal::UnknownDeployment(_))))
                && is_launch(&waiting);
            match &error {
                _ if wanted != deployment => self.parked.push((wanted, waiting)),
                Some(_) if fresh => {
                    (waiting.loads, waiting.fresh) = (waiting.loads + 1, true);
                    self.queue.insert(place, waiting);
                    place += 1;
                }
                Some(error) => out.push(Output::Reply {
                    ticket: waiting.request.ticket,
                    result: Err(error.clone()),
                }),
                None => {
                    waiting.loads += 1;
                    self.queue.insert(place, waiting);
                    place += 1;
                }
            }
        }
    }

    fn bring_back(
        &mut self,
        deployment: DeploymentId,
        rows: &[Linked],
    ) -> Result<(), RequestError> {
        if self.kernel.is_loaded(deployment) {
            // It was started while the store was asked for it.
            return Ok(());
        }
        let Some(last) = rows.last() else {
            return Err(Refusal::UnknownDeployment(deployment).into());
        };
        let last = last.row.seq;
        if last > self.kernel.head() {
            return Err(RequestError::NotOwner);
        }
        if last > self.durable() {
            // Whether they are this writer's own is known when the append under way has ended.
            let (why, retry_after) = (Obstacle::Conflict, self.limits.retry_after);
            return Err(RequestError::NotWritten { why, retry_after });
        }
        let unreadable = |why: String| RequestError::Unreadable { deployment, why: why.into() };
        let targets = self.kernel.targets();
        let open = |row: &Linked| super::replay::open(row, targets);
        let records: Result<Vec<_>, _> = rows.iter().map(open).collect();
        let records = records.map_err(|error| unreadable(error.to_string()))?;
        self.kernel.revive(&records).map_err(|error| unreadable(error.to_string()))
    }

    /// Answers [`Output::Load`] when the records cannot be read now: who waited is told so.
    pub fn abandon(&mut self, deployment: DeploymentId, why: Obstacle, out: &mut Vec<Output>) {
        let error = RequestError::NotWritten { why, retry_after: self.limits.retry_after };
        self.decline(deployment, &error, out);
    }

    /// Answers [`Output::Load`] when the deployment can never be brought back.
    pub fn decline(
        &mut self,
        deployment: DeploymentId,
        error: &RequestError,
        out: &mut Vec<Output>,
    ) {
        let wanted = |(parked, _): &mut (DeploymentId, Waiting)| *parked == deployment;
        out.extend(self.parked.extract_if(.., wanted).map(|(_, waiting)| Output::Reply {
            ticket: waiting.request.ticket,
            result: Err(error.clone()),
        }));
    }
}

/// Whether a request starts its deployment if that has no records.
fn is_launch(waiting: &Waiting) -> bool {
    match &waiting.request.ask {
        Ask::Command { command, .. } => launched(command).is_some(),
        Ask::Take { .. } | Ask::Renew { .. } | Ask::Heartbeat { .. } => false,
    }
}
