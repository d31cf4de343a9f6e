use seaway_kernel::Refusal;
use seaway_model::DeploymentId;
use seaway_wire::Row;

use super::writer::{Waiting, Writer};
use super::{Obstacle, Output, RequestError};

/// Deployments that failed leave memory; a retry brings them back.
impl Writer {
    /// Answers [`Output::Load`] with all records of the deployment, in order; poll next. The
    /// requests that waited for it are decided before all others.
    pub fn revive(&mut self, deployment: DeploymentId, rows: &[Row], out: &mut Vec<Output>) {
        let error = match self.bring_back(rows) {
            Ok(()) if rows.is_empty() => Some(Refusal::UnknownDeployment(deployment).into()),
            Ok(()) => None,
            Err(why) => Some(RequestError::Unreadable { deployment, why }),
        };
        let mut place = 0;
        for (wanted, mut waiting) in std::mem::take(&mut self.parked) {
            match &error {
                _ if wanted != deployment => self.parked.push((wanted, waiting)),
                Some(error) => out.push(Output::Reply {
                    ticket: waiting.request.ticket,
                    result: Err(error.clone()),
                }),
                None => {
                    waiting.revived = true;
                    self.queue.insert(place, waiting);
                    place += 1;
                }
            }
        }
    }

    fn bring_back(&mut self, rows: &[Row]) -> Result<(), Box<str>> {
        if rows.is_empty() {
            return Ok(());
        }
        let records: Result<Vec<_>, _> = rows.iter().map(Row::open).collect();
        let records = records.map_err(|error| error.to_string())?;
        self.kernel.revive(&records).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Answers [`Output::Load`] when the records cannot be read now: who waited is told so.
    pub fn abandon(&mut self, deployment: DeploymentId, why: Obstacle, out: &mut Vec<Output>) {
        let error = RequestError::NotWritten { why, retry_after: self.limits.retry_after };
        let wanted = |(parked, _): &mut (DeploymentId, Waiting)| *parked == deployment;
        out.extend(self.parked.extract_if(.., wanted).map(|(_, waiting)| Output::Reply {
            ticket: waiting.request.ticket,
            result: Err(error.clone()),
        }));
    }
}
