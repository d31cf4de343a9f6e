use seaway_model::Fact;

use super::apply::IllegalRecord;
use crate::Kernel;
use crate::record::Record;
use crate::state::{Course, Spot};

impl Kernel {
    /// Pause, resume and abort.
    pub(super) fn fold_course(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        let seq = record.seq;
        let id = record.deployment.ok_or(IllegalRecord::Incomplete { seq })?;
        let deployment =
            self.deployments.get_mut(&id).ok_or(IllegalRecord::UnknownDeployment { seq })?;
        let (by, since) = (record.by.clone(), record.at);
        let paused = match deployment.course {
            Course::Paused { since, .. } => Some(since),
            _ => None,
        };
        match record.fact {
            Fact::Paused => {
                deployment.pauses = record.n;
                deployment.course = Course::Paused { by, since };
            }
            Fact::Resumed => deployment.course = Course::Running,
            Fact::Aborted => deployment.course = Course::Aborting { by, since },
            _ => return Err(IllegalRecord::UnknownStep { seq }),
        }
        let rank = deployment.rank();
        let in_line: Vec<Spot> = deployment.derived.in_line.keys().copied().collect();
        deployment.derived.todo.extend(in_line.iter().copied());
        in_line.into_iter().for_each(|spot| self.leave_lines(id, spot));
        self.set_clocks(id, paused, record.at);
        self.release_while_paused(id);
        self.active.insert(rank);
        Ok(())
    }
}
