use seaway_model::planted::{Bug, planted};
use seaway_model::{ExecutorName, Outcome, Span};
use serde_json::json;

use crate::schedule::Pen;
use crate::{Kernel, Refusal, Reply, Report, Step};

impl Kernel {
    /// A person answers a task that waits for one.
    pub(super) fn approve(
        &mut self,
        step: Step,
        outcome: Outcome,
        comment: Option<&str>,
        pen: &mut Pen<'_>,
    ) -> Result<Reply, Refusal> {
        if comment.is_some_and(|it| it.len() > Refusal::MAX_REASON) {
            return Err(Refusal::BadReason);
        }
        let deployment = self.open_deployment(step.deployment)?;
        let person = ExecutorName(crate::fold::BY_PERSON.into());
        let offer = deployment.offers.get(&(step.target, step.kind));
        if offer.and_then(|offer| offer.part(&person)).is_none_or(|part| part.end.is_some()) {
            return Err(Refusal::NoApproval);
        }
        let outcome = if planted(Bug::RejectionPasses) { Outcome::Pass } else { outcome };
        let verdict = if outcome == Outcome::Fail { "rejected" } else { "approved" };
        let answer = json!({
            "approval": {"verdict": verdict, "by": pen.by.as_str(), "comment": comment},
            "message": comment.map_or_else(
                || format!("{verdict} by {}", pen.by),
                |comment| format!("{verdict} by {}: {comment}", pen.by),
            ),
        });
        let answer = Some(answer.to_string().into_boxed_str());
        let claimed = self.lease_out(step, &person, Span::from_secs(60), pen)?;
        let Reply::Claimed { step, fence, .. } = claimed else { return Ok(claimed) };
        match self.report((step, fence), Report::Ended(outcome), &answer, pen) {
            // There is no room left for the comment; the verdict counts without it.
            Err(Refusal::TooMuchData) => {
                self.report((step, fence), Report::Ended(outcome), &None, pen)
            }
            reported => reported,
        }
    }
}
