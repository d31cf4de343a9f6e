use seaway_kernel::{Refusal, Report};
use seaway_model::{Fact, Name, Outcome, Seq};
use seaway_store::Store;

use crate::intake::{TaskId, may_be_repeated};
use crate::problem::Failure;

/// Records of a deployment that are looked at together, each with all that was said in it.
const PAGE: usize = 200;
/// Pages that are looked at; far more than deployments have.
const PAGES: usize = 100;

/// Looks for an answer that was given before under the same lease: whoever did not hear that it
/// was accepted sends it again, perhaps long after the task is over.
pub(crate) async fn find(
    (store, project): (&Store, &Name),
    id: &TaskId,
    report: Report,
    refusal: &Refusal,
) -> Result<Option<Seq>, Failure> {
    if !may_be_repeated(refusal) {
        return Ok(None);
    }
    let fact = match report {
        Report::Started => Fact::Started,
        Report::Ended(Outcome::Fail) => Fact::Failed,
        Report::Ended(_) => Fact::Finished,
        Report::Changed => return Ok(None),
    };
    let (target, fence) = (id.step.target, id.fence);
    let outcome = match report {
        Report::Ended(outcome) => Some(outcome),
        Report::Started | Report::Changed => None,
    };
    let mut after = Seq(0);
    for _ in 0..PAGES {
        let records = store.deployment_rows(project, id.step.deployment, after, PAGE).await?;
        let same = records.iter().map(|it| &it.row).find(|row| {
            row.target == target
                && row.fact == fact
                && (row.attempt, row.n) == (fence.attempt, fence.lease)
                && row.outcome == outcome
        });
        if let Some(row) = same {
            return Ok(Some(row.seq));
        }
        match records.last() {
            Some(last) if records.len() == PAGE => after = last.row.seq,
            _ => break,
        }
    }
    Ok(None)
}
