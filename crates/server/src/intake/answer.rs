use seaway_kernel::Report;
use seaway_model::Outcome;

use super::TaskId;
use super::event::{About, Incoming};
use crate::problem::Failure;

/// What an executor says about its task, if the event is that.
pub(crate) fn report(
    event: &Incoming<'_>,
    about: &About<'_>,
) -> Result<Option<(TaskId, Report)>, Failure> {
    let name = event.name();
    let said = ["started", "status.changed", "finished"]
        .into_iter()
        .find_map(|verb| Some((verb, name.strip_suffix(verb)?.strip_suffix('.')?)));
    let Some((verb, task)) = said else { return Ok(None) };
    let Some(id) = event.triggeredid.as_deref().filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    let Ok(id) = id.parse::<TaskId>() else {
        let detail = format!(
            "triggeredid is {id:?}, which is not the id of a task; send the one \
                              that came with it"
        );
        return Err(Failure::conflict("not-offered", detail));
    };
    if id.task.as_str() != task {
        let detail =
            format!("the event is about {task:?}, but its triggeredid is of {:?}", id.task);
        return Err(Failure::refused("other-task", detail));
    }
    let report = match verb {
        "started" => Report::Started,
        "status.changed" => Report::Changed,
        _ => Report::Ended(outcome(about)?),
    };
    Ok(Some((id, report)))
}

/// Whoever reports an error has failed, and so has who says nothing.
fn outcome(about: &About<'_>) -> Result<Outcome, Failure> {
    match about.status.as_deref() {
        Some("errored" | "unknown" | "aborted") => return Ok(Outcome::Fail),
        Some("succeeded" | "") | None => {}
        Some(other) => {
            let detail = format!("data.status is {other:?}; say succeeded, errored or unknown");
            return Err(Failure::refused("bad-status", detail));
        }
    }
    match about.result.as_deref() {
        Some("pass") => Ok(Outcome::Pass),
        Some("warning") => Ok(Outcome::Warning),
        Some("fail" | "failed" | "") | None => Ok(Outcome::Fail),
        Some(other) => {
            let detail = format!("data.result is {other:?}; say pass, warning or fail");
            Err(Failure::refused("bad-result", detail))
        }
    }
}
